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
    خارج وهو وهي وأن وإن وقد ولا ولم وكان وكانت فإن فقد وذلك وهذا وهذه بأن كذلك هناك هنا الآن بعد أيضا يا لو لولا
    كي لكي إذن نعم من في على عن
"""
HEBREW = """
    כדי עבור זו זה זאת אלה אינו אינה אינם אינן ניתן נא האם כעת כבר עוד ללא לאחר לפני במקום בעת ידי על אל מן עם של
    את לא כן כי גם רק אם או אבל אך היה הייתה היו יהיה תהיה יהיו להיות שהיא שהוא שלא שאין שיש בו בה בהם לו לה להם לך
    לכם שלך שלי שלנו שלהם אותו אותה אותם כל כמו כאשר מה מי איך למה מדוע איפה היכן מאוד מאד יותר פחות ביותר אחד אחת
    אחר אחרת אחרים וגם ולא ואם
"""
HINDI = """
    है हैं था थे थी हो हूँ हूं गया गए गये गई किया किए किये की दिया दिए दिये दी लिया लिए लिये ली क्या नहीं न मत आपके
    आपको आपकी आपका आपने आपसे मैं मुझे मेरा मेरे मेरी हम हमें हमारा हमारे हमारी तुम तू वे यह ये वह वो जब तब जहाँ
    जहां वहाँ वहां यहाँ यहां यदि अगर लेकिन परंतु परन्तु किंतु मगर क्योंकि इसलिए ताकि द्वारा बिना केवल सिर्फ सकता
    सकते सकती सके चाहिए जाएगा जाएगी जाएंगे जाता जाती जाते जाने जा रहा रहे रही होगा होगी होंगे होता होती होते होना
    होने हुआ हुए हुई बाद पहले अब फिर भी ही तो और या अन्य प्रत्येक सभी सब हर साथ बारे पर से में को का के ने तक जो
    जिस जिसे जिसमें जिन कौन कब कहाँ कहां कैसे क्यों रूप
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
    edilen eden etti edildi
"""
OWN_LISTS = {
    "english": ENGLISH,
    "chinese": CHINESE,
    "japanese": JAPANESE,
    "thai": THAI,
    "greek": GREEK,
    "arabic": ARABIC,
    "hebrew": HEBREW,
    "hindi": HINDI,
    "korean": KOREAN,
    "turkish": TURKISH,
}
#: Own lists to which those of the package are added.
EXTENDED = ("chinese", "japanese", "arabic", "hebrew", "hindi", "korean", "turkish")
