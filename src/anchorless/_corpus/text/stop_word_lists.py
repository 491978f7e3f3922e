"""Lists of stop words that no package has as they are needed here: closed classes of words, in the forms of texts."""

from __future__ import annotations

# Those of packages do not do: stop-words removes computer, research and state; scikit-learn removes bill, fire and
# system, but keeps did, does, don and ve.
ENGLISH = """
    a an the this that these those such same other others another each every either neither both all any some none no
    not nor only own one two three four five six seven eight nine ten first last much many
    more most few fewer less least several enough half quite rather
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves who whom whose which what whoever whomever whatever
    whichever someone somebody something anyone anybody anything everyone everybody everything nobody nothing noone
    am is are was were be been being have has had having do does did doing done can cannot could may might must shall
    should will would ought become becomes became becoming
    get gets got getting gotten give gives gave given giving go goes going gone went keep keeps kept let lets make makes
    made making put puts say says said saying see seen seem seems seemed seeming take takes took taken taking
    and or but if then else because as until while whereas although though unless whether since so than thus hence
    therefore however moreover furthermore nevertheless nonetheless otherwise besides meanwhile namely
    of at by for with without about against between among amongst into onto through throughout during before after above
    below to from up down in out on off over under beneath beside behind beyond within across along around toward
    towards upon via per despite due except like unlike near inside outside till
    again further once here there where when why how ever never always often sometimes sometime somewhere somehow
    anywhere anyhow anyway everywhere nowhere elsewhere wherever whenever now just also too very even still yet already
    almost perhaps maybe indeed really actually soon later ago away back together alone mostly mainly especially
    afterwards beforehand formerly latter latterly well
    thereby therein thereafter thereupon hereby herein hereafter hereupon whereafter whereby wherein whereupon whence
    thence whither
    please yes oh ok okay etc ie eg vs re
    b c d e f g h j k l m n o p q r s t u v w x y z ll ve
    ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren wouldn
    arent cant couldnt didnt doesnt dont hadnt hasnt havent im isnt ive shouldnt thats theyre wasnt werent whats wont
    wouldnt youre
"""

#: With the list of the package, which lacks many particles and pronouns.
CHINESE = """
    的 了 是 在 我 有 和 就 不 人 都 一 一个 上 也 很 到 说 要 去 你 会 着 没有 看 好 自己 这 那 他 她 它 我们 你们 他们
    她们 它们 这个 那个 这些 那些 这样 那样 这里 那里 什么 怎么 怎样 为什么 多少 几 谁 哪 哪里 哪个 与 及 以及 或 或者
    而 而且 但 但是 因为 所以 如果 虽然 然而 于是 因此 由于 为了 为 对 对于 关于 从 向 往 自 由 被 把 将 让 给 使 得 地
    之 其 其中 并 并且 又 再 还 还是 只 只是 只有 才 已 已经 曾 曾经 正 正在 将要 可 可以 能 能够 应 应该 必须 需要 可能
    等 等等 第 每 各 某 个 些 种 次 年 月 日 时 时候 之后 之前 以后 以前 后 前 里 中 内 外 下 左右 大 小 多 少 更 最
    太 非常 十分 比较 比 跟 同 吗 呢 吧 啊 呀 哦 嗯 啦 嘛 么 们 来 做 作为 进行 通过 根据 按照 此 该 本 则 即 若 且 以
    于 所 者 两 三 二 四 五 六 七 八 九 十 百 千 万 亿 没 别 无 非 不是 就是 也是 不会 不能 一样 一些 一下 一点 起来
    出来 出 过 起 用 叫 想 知道 觉得 认为 表示
"""
#: The same in traditional characters, where these are others.
TRADITIONAL_CHINESE = """
    一個 說 會 著 沒有 這 我們 你們 他們 她們 它們 這個 那個 這些 這樣 那樣 這裏 這裡 那裡 那裏 什麼 怎麼 怎樣 爲什麼
    為什麼 幾 誰 哪裏 哪裡 哪個 與 因為 因爲 雖然 於是 由於 為了 爲了 爲 為 對 對於 關於 從 將 讓 給 並 並且 還 還是
    已經 曾經 將要 能夠 應 應該 必須 個 種 時 時候 之後 以後 後 裏 裡 內 比較 嗎 麼 們 來 作為 作爲 進行 通過 根據 該
    則 於 兩 萬 億 沒 別 無 不會 一樣 一點 起來 出來 過 覺得 認爲 認為 當 兒 爾 據 憑 卻 雖 隨 喲 諸
"""
JAPANESE = """
    こと もの ため よう そう ところ とき 時 これ それ あれ どれ ここ そこ あそこ どこ この その あの どの こう どう
    ああ こんな そんな あんな どんな 私 僕 俺 あなた 君 彼 彼女 自分 方 人 者 的 為 居る 有る 成る 為る する 有り
    いる ある なる できる やる くる 来る いく 行く くれる もらう いただく 頂く 下さる くださる しまう みる 見る
    言う いう 思う おる れる られる せる させる 無い ない 良い よい いい とても かなり もっと また まだ もう すぐ
    今 そして しかし でも だから それで また 又 及び および または さらに 更に ただ ただし なお ので のに けれど
    けど ほど くらい ぐらい だけ など 等 ばかり まで から より について による により として に対して 一 二 三 四
    五 六 七 八 九 十 つ 年 月 日 回 個 何 誰 いつ なぜ さん 様 ちゃん 氏 中 上 下 前 後 内 間 達 たち 御 お ご
    此の 其の 其れ 此れ 事 物 所 という ということ です ます でした ました ません である だった 場合 よる 対する
    つく まま すべて 全て 他 以外 各 多く 一部
"""
THAI = """
    ที่ และ ใน ของ เป็น การ มี ได้ ไม่ ให้ จะ ว่า กับ จาก โดย ความ ไป มา นี้ นั้น แต่ ก็ หรือ แล้ว อยู่ คือ ซึ่ง เพื่อ ต้อง
    ถึง เมื่อ ตาม ด้วย ทำ กัน ยัง เขา เธอ ผม ฉัน เรา คุณ ท่าน มัน พวก ตัว เอง ใคร อะไร ไหน เมื่อไร อย่างไร ทำไม เท่าไร
    กี่ บาง ทุก หลาย แต่ละ อีก มาก น้อย ๆ ขึ้น ลง เข้า ออก ทั้ง หมด ทั้งหมด เช่น อาจ ควร เคย กำลัง ถ้า หาก เพราะ
    ดังนั้น จึง แม้ ก่อน หลัง ระหว่าง ต่อ สำหรับ เกี่ยวกับ เพียง เท่านั้น นอกจาก ครับ ค่ะ คะ นะ สิ เลย จน จนถึง ตั้งแต่
    ณ พบ ใช้ ถูก ผู้ สิ่ง หนึ่ง สอง สาม ต่าง ส่วน คน ปี วัน ครั้ง รวม แบบ ดี กว่า ที่สุด ไว้ เอา พอ อย่าง นัก น่า โดยเฉพาะ
"""
#: The list of the package is of ancient Greek.
GREEK = """
    ο η το οι τα του της των τον την τις τους ένας μία μια ένα και κι ή είτε αλλά όμως ενώ αν εάν όταν όπως ώστε γιατί
    διότι επειδή ότι πως που να θα δεν μην μη ας για με σε από προς κατά μετά μέχρι ως χωρίς υπό αντί παρά πριν στο στη
    στην στον στις στους στα μέσα έξω πάνω κάτω εδώ εκεί τώρα τότε πάντα ποτέ πολύ λίγο πιο πλέον ήδη ακόμα ακόμη μόνο
    επίσης έτσι εγώ εσύ αυτός αυτή αυτό αυτοί αυτές αυτά αυτού αυτής αυτών αυτόν αυτήν αυτούς εμείς εσείς μου σου μας
    σας με σε μα ποιος ποια ποιο τι κάθε κάποιος κάποια κάποιο κάτι τίποτα κανείς όλα όλοι όλες όλο όλη άλλος άλλη άλλο
    άλλα άλλοι είναι ήταν είμαι είσαι έχει έχουν έχω είχε είχαν μπορεί πρέπει δηλαδή λοιπόν όπου οποίος οποία οποίο
    οποίοι οποίες οποίων δύο τρεις τρία όσο όσοι όσα τόσο μεταξύ
"""
#: The lists of the package for these languages lack common words, or spell them without hamza.
ARABIC = """
    أو إلى أن إن أنه أنها أنهم أني إنه إنها إذا إذ أي أية أيضا أنا أنت أنتم نحن هو هي هم هن هما هل لا لم لن ليس
    ليست كان كانت كانوا كنت يكون تكون سيكون ستكون كل كلا بعض غير ذلك تلك هذا هذه هذان هؤلاء أولئك الذي التي الذين
    اللذان اللتان اللواتي ما ماذا متى أين كيف لماذا كم قد لقد سوف ثم بل لكن لكنه لكنها حتى منذ خلال أثناء عند عندما
    حيث حين بينما لأن لأنه لأنها كما كأن مثل فقط جدا أكثر أقل أخرى آخر أحد إحدى أما إما ألا إلا أنك إنك بك لك لكم
    له لها لهم لنا لي لدى لديك لديه لديها لديهم لدينا به بها بهم فيه فيها فيهم منه منها منهم عنه عنها عليه عليها
    عليهم إليه إليها معه معها يجب يمكن يمكنك ينبغي يتم تتم تم تمت سيتم مع ضد حول دون بدون قبل بعد تحت فوق بين داخل
    خارج وهو وهي وأن وإن وقد ولا ولم وكان وكانت فإن فقد وذلك وهذا وهذه بأن كذلك هناك هنا الآن يا لو لولا
    كي لكي إذن نعم من في على عن بما مما فيما عما لما إنما وإنما إنني إننا إنكم إنهم أنكم أننا لدي أيها بهذا بهذه لهذا
    لهذه لذلك بذلك عليك عليكم علينا إليك إليكم إلينا إليهم عنهم عنك منك منكم فيك كنا كنتم ليسوا أولا
"""
HEBREW = """
    כדי עבור זו זה זאת אלה אינו אינה אינם אינן ניתן נא האם כעת כבר עוד ללא לאחר לפני במקום בעת ידי על אל מן עם של את
    לא כן כי גם רק אם או אבל אך היה הייתה היו יהיה תהיה יהיו להיות שהיא שהוא שלא שאין שיש בו בה בהם לו לה להם לך לכם
    שלך שלי שלנו שלהם אותו אותה אותם כל כמו כאשר מה מי איך למה מדוע איפה היכן מאוד מאד יותר פחות ביותר אחד אחת אחר
    אחרת אחרים שאני שאתה שהם שהן שהיה שהייתה שהיו שיהיה שניתן הזה הזאת הזו האלה הללו בזה מזה לזה ממנו ממנה מהם אליו
    אליה אליהם אלי אליך לפיו לפיה וכו
"""
HINDI = """
    है हैं था थे थी हो हूँ हूं गया गए गये गई किया किए किये की दिया दिए दिये दी लिया लिए लिये ली क्या नहीं न मत आपके
    आपको आपकी आपका आपने आपसे मैं मुझे मेरा मेरे मेरी हम हमें हमारा हमारे हमारी तुम तू वे यह ये वह वो जब तब जहाँ जहां
    वहाँ वहां यहाँ यहां यदि अगर लेकिन परंतु परन्तु किंतु मगर क्योंकि इसलिए ताकि द्वारा बिना केवल सिर्फ सकता सकते सकती
    सके चाहिए जाएगा जाएगी जाएंगे जाता जाती जाते जाने जा रहा रहे रही होगा होगी होंगे होता होती होते होना होने हुआ हुए
    हुई बाद पहले अब फिर भी ही तो और या अन्य प्रत्येक सभी सब हर साथ बारे पर से में को का के ने तक जो जिस जिसे जिसमें
    जिन कौन कब कहाँ कहां कैसे क्यों रूप तथा अथवा चाहते चाहता चाहती चाहें जाए जाएँ जाये जरिए जरिये दौरान बीच तभी यद्यपि
    बल्कि किसके जिसका जिसकी जिसके जिनमें इनमें उनमें उसका उसकी उसमें उससे इससे जिससे तेरा उनसे इनसे वही वैसे तरफ ओर
    सकूँ रखना रखने रहता रहती रहते रहें होकर करके करती करो कीजिए दें दे देता देते देती देना देने लेता लेते लेती लेना
    लेने लें ले आता आते आती आना आने जाना लगता लगे लगा गयी थीं
"""
KOREAN = """
    수 있습니다 없습니다 합니다 됩니다 입니다 않습니다 아닙니다 있는 없는 하는 되는 않는 있다 없다 한다 된다 이다
    아니다 않는다 않다 했다 됐다 되었다 있었다 하고 하여 하지 하지만 하며 하면 하기 있고 있지 있으며 있을 없이 않고
    않은 않으면 않을 또는 및 등 더 덜 이미 대한 대해 위해 위한 통해 통한 따라 따른 의해 의한 관한 경우 때 때문에 중
    후 전 뒤 데 할 한 될 된 해 된다면 모든 모두 여러 다른 같은 새 매우 아주 가장 다시 함께 이런 그런 저런 이러한
    그러한 해당 것이 것은 것을 것으로 것이다 것입니다 것도 나는 저는 우리는 그는 그녀는 이것은 그것은 이는 이를
    그리고 그러나 그래서 또한 즉 만약 아직 항상 거의 약 각 그 이 저
"""
TURKISH = """
    veya yahut kadar sonra önce göre ancak yalnızca sadece değil değildir olarak olan olanlar olduğu olduğunu
    olduğundan oldu olur olursa olmalıdır olması olmak olacak olabilir olmadığı tarafından üzere rağmen dolayı aynı
    tüm bütün böyle şöyle öyle onun onların sizin sizi mısınız misiniz musunuz müsünüz mıdır midir mudur müdür
    hangi hangisi nerede neden nasıl şekilde lütfen artık zaten yine hâlâ içinde üzerinde altında arasında çünkü
    fakat yani şey şeyi şeyler bunlar şunlar onlar kendi kendisi ardından eğer ayrıca ilgili etmek ederek edilir
    edilen eden etti edildi mi mısın misin dır dir dur dür tır tir tur var yok vardır yoktur bile zira işte ise iken
    ona onlara onları size bize sana bizim sizlere kendine kendilerine kendinize ey diğer başka hiçbir herhangi
"""
#: The package has no lists of the following languages, and those of stopwords-iso are damaged or too short.
PERSIAN = "ها های هایی هایش هایشان ام ات اش مان تان شان تر ترین می نمی ای اند"
URDU = """
    کا کی کے کو نے سے میں پر تک اور یا مگر لیکن کہ جو جس جسے جن جنہیں جنہوں جب تب اب تو ہی بھی نہ نہیں مت ہے ہیں ہوں
    ہو تھا تھی تھے تھیں ہوا ہوئی ہوئے ہوئیں ہوتا ہوتی ہوتے ہونا ہونے ہوگا ہوگی ہوگے گا گی گے گیا گئی گئے گئیں کر کرو
    کرتا کرتی کرتے کرنا کرنے کرے کریں کیا کیے کئے دیا دی دیئے دیے دیتا دیتی دیتے دے دو دیں لیا لی لیے لئے لیتے لے جا
    جاتا جاتی جاتے جانا جانے جائے جائیں جاؤ آ آتا آتے آتی آئے آیا آئی رہا رہی رہے رہیں سکتا سکتی سکتے چکا چکی چکے
    چاہیے چاہئے والا والی والے والوں یہ وہ اس اسے اسی ان انہیں انہوں انہی یہی وہی ہم ہمیں ہمارا ہماری ہمارے تم تمہیں
    تمہارا تمہاری تمہارے تجھے تیرا تیری تیرے آپ مجھے میرا میری میرے اپنا اپنی اپنے خود کوئی کسی کچھ کون کیوں کیسے کہاں
    کب کتنا کتنی کتنے ایسا ایسی ایسے ویسا ویسے جیسا جیسے جیسی ہر سب سبھی تمام بہت زیادہ کم صرف بس ہاں جی اگر پھر ورنہ
    تاکہ کیونکہ چونکہ اگرچہ بلکہ یعنی ساتھ بعد پہلے بغیر درمیان طرف طرح پاس لگے لگا لگی بارے یہاں وہاں جہاں ادھر ابھی
    کبھی جبکہ ایک دوسرے دوسری دوسرا اے یقینا بیشک بےشک نیز مثلا وغیرہ
"""
BENGALI = """
    এবং ও আর কিন্তু অথবা বা কিংবা যদি তবে তাহলে কারণ যেহেতু যেন যাতে যে যা যার যাকে যারা যাদের যাদেরকে যিনি যখন তখন
    যেমন তেমন যেখানে সেখানে এখানে এখন তাই তাও তা তার তাকে তাতে তারা তাদের তাদেরকে তিনি তাঁর তাঁকে তাঁরা তাঁদের সে সেই
    সেটা এই এ এটা এটি এতে এর এরা এদের এসব ঐ ওই ওরা ওদের তুমি তোমার তোমাকে তোমরা তোমাদের তোমাদেরকে আপনি আপনার আপনাকে
    আমি আমার আমাকে আমরা আমাদের আমাদেরকে কে কি কী কেন কেউ কাকে কার কারও কোন কোনো কিছু কিছুই কখনও কখনো কোথায় কেমন কত না
    নয় নেই নাই নি হয় হয়ে হয়েছে হয়েছিল হবে হল হলে হতে হন হোক ছিল ছিলেন ছিলাম আছে আছেন থাকে থাকবে থেকে থাকা করে
    করেন করেছে করেছেন করেছি করেছিল করা করার করতে করলে করল করলাম করবে করবেন করব কর করি করুন করো করেনি দিয়ে দিয়েছে
    দিয়েছেন দিয়েছি দেয় দেন দিলাম দিল দিতে দেওয়া নিয়ে নিয়েছে গেল গেছে যায় যাবে যাও রয়েছে রয়েছেন পারে পারেন
    পারবে জন্য জন্যে দ্বারা সাথে সঙ্গে মধ্যে উপর উপরে প্রতি পর পরে আগে পর্যন্ত ছাড়া কাছে দিকে মত মতো অন্য অন্যান্য সব
    সকল সমস্ত অনেক আরও আরো খুব অতি তো ই হ্যাঁ বরং অতঃপর অতএব সুতরাং এমন এমনকি অবশ্যই নিশ্চয় নিশ্চয়ই একটি এক একে দুই
    হে বলে বলল বললঃ বলেন বলুন বললেন
"""
MARATHI = """
    आणि व किंवा किवा पण परंतु मात्र तर जर की कि म्हणून म्हणजे कारण जे जो जी ज्या ज्याला ज्यामुळे जेव्हा तेव्हा जसे तसे
    तसेच असे असा अशी अशा हे हा ही ह्या या याचा याची याचे याच्या यांचा यांची यांच्या यामध्ये यामुळे याला ते तो ती त्या
    त्याचा त्याची त्याचे त्याच्या त्यांचा त्यांची त्यांच्या त्यांना त्याला त्यामुळे त्यानंतर मी मला माझा माझी माझे
    माझ्या आम्ही आपण आपला आपली आपले आपल्या आपल्याला तुम्ही तुम्हाला तुमचा तुमची तुमचे तुमच्या तू तुला आहे आहेत आहात
    नाही नाहीत नका नको होते होता होती होतात होतो होईल असते असतात असतो असेल असल्यास असलेल्या असलेले असलेला असलेली
    असल्याने असून नसल्यास नसेल झाले झाला झाली झाल्यास झाल्यावर केले केला केली केल्यास केल्यावर केलेल्या केलेले करा
    करणे करते करतो करतात करता करू करून करण्यासाठी करण्याकरिता करीता करिता शकता शकते शकतो शकतात पाहिजे दिले दिलेल्या
    द्या देते घ्या साठी मध्ये मधील वर वरील खाली खालील पासून पर्यंत द्वारे सह शिवाय विना पेक्षा नंतर पूर्वी आधी आता
    पुन्हा फक्त देखील सुद्धा सर्व सगळे काही कोणते कोणताही कोणतेही कोणत्याही कोण काय कसे कशा कुठे केव्हा किती एक एका
    दोन इतर इत्यादि प्रत्येक अधिक जास्त कमी खूप फार येथे तेथे जेथे तरी ना च
"""
TAMIL = """
    மற்றும் அல்லது ஆனால் எனினும் ஆகவே எனவே ஆகையால் ஏனெனில் என்று என என்ற எனும் என்பது என்பதை என்றால் எனில் எனப் எனக்
    இந்த அந்த எந்த இது அது எது இதை அதை இதன் அதன் இதில் அதில் இவை அவை இவற்றை அவற்றை அவற்றின் இங்கு அங்கு எங்கு இப்போது
    அப்போது எப்போது போது பின் பின்னர் பிறகு முன் முன்பு நான் நாம் நாங்கள் என் எனது எனக்கு எங்கள் நமது நீ நீங்கள் உன்
    உங்கள் உங்களுக்கு உங்களது உங்களிடம் அவர் அவன் அவள் அவர்கள் அவரது அவர்களின் தான் தன் தனது ஒரு ஒன்று ஒரே இரண்டு சில
    பல எல்லா எல்லாம் அனைத்து அனைத்தும் ஒவ்வொரு மற்ற வேறு வேண்டும் வேண்டிய முடியும் முடியாது முடியவில்லை உள்ள உள்ளது
    உள்ளன இருக்கும் இருக்கலாம் இருந்தால் இருந்து இருந்தது இருக்க இருக்கிறது இல்லை இல்லாத இல்லாமல் ஆகும் ஆக ஆகிய ஆன
    செய்ய செய்யும் செய்து செய்த செய்யவும் செய்யலாம் செய்தால் கொண்டு கொள்ள கொள்ளவும் கொண்ட மூலம் வரை போன்ற போல் போல
    மட்டும் கூட மேலும் மிக மிகவும் அதிக குறித்து பற்றி உடன் இன்னும் எப்படி எவ்வாறு இவ்வாறு அவ்வாறு என்ன ஏன் யார் படி
    விட மேல் கீழ் நீங்களே
"""
#: In Cyrillic letters; Serbian in Latin letters has the list of Croatian.
SERBIAN = """
    и а али или ни па те да не ако јер док када кад као како што шта који која које којег којој којим којих коју
    којима чији чија где куда одакле зашто због ради у на о об од до за са с из иза испод изнад испред код ка кроз
    међу над под по поред пре после преко при против без уз осим између током путем према након ово овај ова ове ови
    овог овом ову то тај та ти тог том ту тим тих оно онај она они оне ја он ми ви мене мени ме мој моја моје тебе
    теби твој њега њему га му њој је ју њих њима их им њихов његов њен нас нама нам наш наша наше вас вама вам ваш
    ваша ваше вашег вашем вашу вашој ваших себе себи се свој своја своје свог сам си смо сте су јесам јесте није нису
    нисам нисте био била било били биле бити буде будете буду бих би бисмо бисте ћу ћеш ће ћемо ћете неће хоће може
    можете могу моћи можда треба морате мора желите желим има имате имају нема неки неке неко неког нека неких нешто
    нико ништа сваки свака свако све сви свих свим само још већ веома врло више мање много мало тако такође тада затим
    онда овде тамо сада увек никад ли зато дакле чак такав таква такве такви исти иста исто други друга друго друге
    један једна једно једну
"""
CROATIAN = """
    i a ali ili ni pa te da ne ako jer dok kada kad kao kako što šta koji koja koje kojeg kojoj kojim kojih koju
    kojima čiji čija gdje gde kamo zašto zbog radi u na o od do za sa s iz iza ispod iznad ispred kod ka kroz među nad
    pod po pored prije pre poslije posle preko pri protiv bez uz osim između tijekom tokom putem prema nakon ovo ovaj
    ova ove ovi ovog ovom ovu to taj ta ti tog tom tu tim tih ono onaj ona oni one ja on mi vi mene meni me moj moja
    moje tebe tebi tvoj njega njemu ga mu njoj je ju njih njima ih im njihov njegov njezin njen nas nama nam naš naša
    naše vas vama vam vaš vaša vaše vašeg vašem vašu vašoj vaših sebe sebi se svoj svoja svoje svog sam si smo ste su
    jesam jeste jest nije nisu nisam niste bio bila bilo bili bile biti bude budete budu bih bi bismo biste ću ćeš će
    ćemo ćete neće hoće može možete mogu moći možda treba morate mora želite želim ima imate imaju nema neki neke
    netko neko nekog neka nekih nešto nitko ništa svaki svaka svako sve svi svih svim samo još već vrlo veoma više
    manje mnogo malo tako također takođe tada zatim onda ovdje ovde tamo sada uvijek uvek nikad li zato dakle čak
    takav takva takve takvi isti ista isto drugi druga drugo druge jedan jedna jedno jednu
"""
SLOVENIAN = """
    in a ali pa ter da ne če ker ko kot kako kaj kdo kdaj kje kam zakaj ki kateri katera katero katere katerega
    kateremu katerih katerim kar kjer kadar dokler čeprav vendar toda saj torej zato sicer temveč ampak oziroma v na o
    ob od do za z s iz k h po pod nad pred med pri proti prek preko brez razen zaradi glede skozi okoli znotraj zunaj
    to ta te ti tega temu tem teh tisti tista tisto tiste jaz on ona ono oni one mi vi mene meni me moj moja moje tebe
    tebi tvoj njega njemu ga mu nje njej jo ji njih njim jih jim njihov njegov njen nas nam naš naša naše vas vam vaš
    vaša vaše vašega vašem vašo sebe sebi se si svoj svoja svoje svojo sem je smo ste so nisem ni nismo niste niso bil
    bila bilo bili bile biti bi bom boš bo bomo boste bodo lahko mora morate moram morajo želite želi želim ima imate
    imajo nima neki neka neko nekega nekaj nekdo nekateri nihče nič vsak vsaka vsako vse vsi vseh vsem samo le še že
    zelo bolj manj več veliko malo tako tudi tedaj nato potem tu tukaj tam zdaj vedno nikoli drug drugi druga drugo
    druge drugega en ena eno enega isti ista isto prav itd npr morda naj
"""
LATVIAN = """
    un vai bet ja ka kad kā kas ko kam kura kurā kurai kuras kuri kuru kurš kur kāpēc kamēr lai jo tomēr taču arī gan
    ne nav nevis nevar nē ir esat esam esmu bija bijis būs būt būtu tiek tika tiks tikt tikai var varat varam varētu
    varēs varēja jābūt ar bez no uz par pa pie pēc pirms pret caur cauri starp līdz zem virs pār ap aiz iekš ārpus
    kopā dēļ šis šī šo šos šīs šajā šai šim tas tā to tos tās tajā tam tie tām tiem tur te šeit tad tagad jau vēl ļoti
    vairāk mazāk daudz dažas daži dažus dažreiz katrs katra katru katram visi visas visu visus viss jūs jums jūsu es
    man mans mana manu mēs mums mūsu viņš viņa viņi viņu viņam tu tev tavs sevi sev savu savs savā savas savus pats
    paši cits cita citi citu citas citus citiem kāds kāda kādu kādas kādus viens viena vienu vienā divi tādi tāds tāda
    tādu tādēļ tāpēc tādā piemēram kopš pat nekas neko nekad vienmēr labi vēlaties vajag vajadzētu gadījumā kaut itin
    tik
"""
LITHUANIAN = """
    ir bei ar arba o bet tačiau jei jeigu kad kai kaip kas ką kam kur kuris kuri kurį kurią kurie kurios kurių kuriuos
    tai kuriame kurioje kada kodėl kol nes nors taip pat ne nei nėra yra esate esame esu buvo būti būtų bus gali galite
    galima galėtų turi turite reikia reikėtų į iš su be prie po prieš per pro tarp iki už ant apie dėl nuo pagal pas
    šalia vietoj šis ši šį šią šio šios šie šiuo šiame tas ta tą to tos tie tuo tame ten čia tada dabar jau dar labai
    daugiau mažiau daug keletas kiekvienas kiekvieną visi visos visus visą viskas aš man mano mane mes mums mūsų jūs
    jums jūsų jis ji jo jos jį ją jie jų jiems jam jai tu tau tavo save sau savo pats kitas kita kitą kiti kitų kitos
    kitus koks kokia kokį vienas viena vieną du dvi toks tokia tokį todėl pavyzdžiui net niekas nieko niekada visada
    tik tiktai gal galbūt norite noriu nebent negu užtat kuo juo
"""
ESTONIAN = """
    ja ning või ehk aga kuid vaid kui et sest nagu kuna kuni siis kas kes keda kelle mis mida mille millest millel
    milles kus kuhu kust miks millal kuidas ei ega pole on oli olid olen oled oleme olete olla oleks ole olnud olema
    saab saate saavad saada saaks võib võite võivad võiks tuleb peab peate peaks peavad see seda selle sellest sellel
    selles sellele need neid nende neile nendest siin seal sinna siia siit sealt nüüd juba veel väga rohkem vähem
    palju mõni mõne mõned mõnda iga kõik kõike kõigi kõiki ma mina mind minu mulle mul sa sina sind sinu ta tema teda
    temale me meie meid meile te teie teid teile nad nemad oma ise enda ennast end teine teise teised teiste muu muud
    muude üks ühe ühte kaks kahe mitu mitme selline sellise sellised näiteks isegi ka ainult just miski midagi keegi
    kunagi alati jah koos ilma enne pärast läbi kohta jaoks juures peale alla üle vahel mööda tõttu abil poolt eest
    vastu järgi
"""
OWN_LISTS = {
    "english": ENGLISH,
    "chinese": CHINESE + TRADITIONAL_CHINESE,
    "japanese": JAPANESE,
    "thai": THAI,
    "greek": GREEK,
    "arabic": ARABIC,
    "hebrew": HEBREW,
    "hindi": HINDI,
    "korean": KOREAN,
    "turkish": TURKISH,
    "persian": PERSIAN,
    "urdu": URDU,
    "bengali": BENGALI,
    "marathi": MARATHI,
    "tamil": TAMIL,
    "serbian": SERBIAN,
    "croatian": CROATIAN,
    "slovenian": SLOVENIAN,
    "latvian": LATVIAN,
    "lithuanian": LITHUANIAN,
    "estonian": ESTONIAN,
}
#: Codes of languages that the package does not know.
OWN_CODES = {
    **{"en": "english", "th": "thai", "ur": "urdu", "bn": "bengali", "mr": "marathi", "ta": "tamil", "sr": "serbian"},
    **{"hr": "croatian", "sl": "slovenian", "lv": "latvian", "lt": "lithuanian", "et": "estonian"},
}
#: Letters that mean "and" and are written as one with the word after them.
CONJUNCTIONS = {"arabic": "وف", "hebrew": "ו"}
#: Words that only look like a stop word after such a letter: guardian, understanding, orbit; committee.
OTHER_WORDS = ("ولي", "فهم", "فلك", "ועד")
#: Own lists to which those of the package are added.
EXTENDED = ("chinese", "japanese", "arabic", "hebrew", "hindi", "korean", "turkish", "persian")
