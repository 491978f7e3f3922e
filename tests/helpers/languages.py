"""Sentences in many languages, written for the tests."""

CHINESE = [
    "今天的天气很好我们一起去公园散步吧。孩子们在草地上玩耍",
    "经济增长放缓，中央银行宣布降低利率以刺激投资",
    "火箭成功进入轨道，科学家们非常高兴",
]
JAPANESE = [
    "今日は天気がとても良いので公園へ散歩に行きました。",
    "中央銀行は金利を引き下げると発表した。",
    "ロケットは軌道に入ったので、科学者たちは喜んだ",
]
THAI = ["วันนี้อากาศดีมากเราจึงไปเดินเล่นในสวนสาธารณะ", "ธนาคารกลางประกาศลดอัตราดอกเบี้ยเพื่อกระตุ้นเศรษฐกิจ"]
#: Languages without a list of stop words, in Latin letters.
UNKNOWN = {
    "swahili": [
        "Watoto walikwenda shuleni asubuhi na mapema kwa sababu walitaka kumsalimu mwalimu wao mpya wa hisabati",
        "Benki kuu ya nchi ilitangaza kwamba itapunguza riba kwa kuwa uchumi haukui tena kama zamani",
        "Mvua kubwa ilinyesha jana usiku na maji ya mto yakafika karibu na nyumba za watu wa kijiji",
        "Tafadhali weka jina lako na nenosiri ili uweze kuingia kwenye akaunti yako ya benki",
    ],
    "yoruba": [
        "Àwọn ọmọ náà lọ sí ilé ìwé ní òwúrọ̀ kí wọ́n lè kí olùkọ́ wọn tuntun",
        "Jọ̀wọ́ kọ orúkọ rẹ àti ọ̀rọ̀ aṣínà rẹ kí o lè wọlé sí àkántì rẹ",
        "Òjò ńlá rọ̀ ní àná omi odò sì dé ẹ̀bá ilé àwọn ará abúlé náà",
    ],
}
SENTENCES = {
    "english": "The central bank said that it would lower its rates because the economy has been weak for months.",
    "german": "Die Zentralbank hat angekündigt, dass sie die Zinsen senken wird, weil die Wirtschaft nicht wächst.",
    "french": "La banque centrale a annoncé qu'elle allait baisser les taux parce que l'économie est dans une crise.",
    "spanish": "El banco central dijo que va a bajar los tipos porque la economía no crece desde hace un año.",
    "italian": "La banca centrale ha detto che abbasserà i tassi perché l'economia non cresce più come prima.",
    "portuguese": "O banco central anunciou que vai baixar os juros porque a economia não cresce há muito tempo.",
    "dutch": "De centrale bank heeft gezegd dat zij de rente zal verlagen omdat de economie niet meer groeit.",
    "polish": "Bank centralny ogłosił, że obniży stopy procentowe, ponieważ gospodarka nie rośnie już tak jak dawniej.",
    "russian": "Центральный банк объявил, что он снизит ставку, потому что экономика не растёт уже больше года.",
    "ukrainian": "Центральний банк оголосив, що він знизить ставку, тому що економіка не зростає вже більше року.",
    "turkish": "Merkez bankası faizleri düşüreceğini açıkladı, çünkü ekonomi bu yıl da çok yavaş büyüyor.",
    "vietnamese": "Ngân hàng trung ương cho biết sẽ giảm lãi suất vì nền kinh tế không tăng trưởng trong năm nay.",
    "arabic": "أعلن البنك المركزي أنه سوف يخفض سعر الفائدة لأن الاقتصاد لم ينمو منذ عام على الأقل",
    "persian": "بانک مرکزی اعلام کرد که نرخ بهره را کاهش می‌دهد چون اقتصاد در این سال رشد نکرده است",
    "hebrew": "הבנק המרכזי הודיע כי הוא יוריד את הריבית כי הכלכלה לא צומחת כבר יותר משנה",
    "hindi": "केंद्रीय बैंक ने कहा कि वह ब्याज दर कम करेगा क्योंकि अर्थव्यवस्था में इस साल वृद्धि नहीं हुई है",
    "korean": "중앙은행은 올해 경제가 성장하지 않았기 때문에 금리를 인하한다고 발표했다",
    "greek": "Η κεντρική τράπεζα ανακοίνωσε ότι θα μειώσει τα επιτόκια γιατί η οικονομία δεν αναπτύσσεται",
    "chinese": CHINESE[1],
    "japanese": JAPANESE[1],
    "thai": THAI[1],
}
