"""The files of the page with ten tasks: small planted collections, as users have them."""

import csv

import numpy as np

from tests.helpers.planted_texts import planted_texts
from tests.helpers.text_files import make_pdf, make_xlsx, make_zip


def write_task_files(folder):
    """Write the files that the page names into a folder."""
    texts, labels = planted_texts(160, 0)
    dates = [f"20{18 + i % 5}-0{1 + i % 9}-11" for i in range(len(texts))]
    with open(folder / "articles.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "section", "date"])
        writer.writerows(zip(range(len(texts)), texts, labels, dates, strict=True))
    rows = [["id", "text", "section", "date"], *map(list, zip(map(str, range(160)), texts, labels, dates, strict=True))]
    (folder / "articles.xlsx").write_bytes(make_xlsx({"Articles": rows}))
    (folder / "texts.zip").write_bytes(make_zip({f"{number:03}.txt": text for number, text in enumerate(texts)}))
    (folder / "papers").mkdir()
    for number, text in enumerate(texts):
        (folder / "papers" / f"{number:03}.pdf").write_bytes(make_pdf([text.replace(" ", "\n")]))
    write_chinese(folder / "chinese.csv")


CHINESE = {
    "space": "火箭 卫星 轨道 月球 发射 宇航员 飞船 太空 望远镜 火星",
    "food": "面包 面粉 黄油 烤箱 食谱 厨房 白糖 胡椒 奶酪 鸡汤",
    "law": "法院 法官 律师 审判 证据 证人 监狱 上诉 犯罪 判决",
    "sport": "球队 比赛 教练 球员 联赛 赛季 裁判 球场 球迷 奖杯",
}


def write_chinese(path):
    """Write planted Chinese texts, without spaces between words."""
    rng = np.random.default_rng(0)
    themes = [words.split() for words in CHINESE.values()]
    texts = [
        "和".join(rng.choice(themes[i % 4], 3)) + "，" + "的".join(rng.choice(themes[i % 4], 4)) + "。"
        for i in range(160)
    ]
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["编号", "正文"], *enumerate(texts)])
