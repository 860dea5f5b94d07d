// Names of the node's checks and workers, and what an uneventful one says, in Chinese. The
// node writes English; what is not known here is shown as it writes it.

import { lang } from "../app/text";

const names: Record<string, string> = {
  file: "数据库文件",
  texts: "文本校验",
  permissions: "文件权限",
  writing: "写入",
  log: "日志",
  "full-text index": "全文索引",
  "duplicate signatures": "去重签名",
  tags: "标签",
  "index contents": "索引内容",
  "indexes in memory": "内存索引",
  "index of words in memory": "内存词语索引",
  payloads: "感知数据",
  likeness: "相似特征",
  backup: "备份",
  "zero-hit rate": "无结果率",
  size: "大小",
  embedder: "嵌入模型",
  vectors: "向量",
  writer: "写入队列",
  retention: "保留策略",
  memory: "内存",
};

const details: [RegExp, string][] = [
  [/^every page reads as it should$/, "每一页都可正常读取"],
  [/^only their owner can read the file and its payloads$/, "只有所有者能读取文件及其数据"],
  [/^all of it can be brought into the file$/, "可全部写回数据库文件"],
  [/^not compared: it is still being read$/, "未比较：仍在读取"],
  [/^not compared: memories are being learnt$/, "未比较：正在写入记忆"],
  [/^run robotmem doctor again when fewer memories are being learnt$/, "写入较少时再运行 robotmem doctor"],
  [/^it holds (\d+) texts, as the tables$/, "含 $1 条文本，与数据表一致"],
  [/^in step with the tables$/, "与数据表一致"],
  [/^(\d+) memories looked at, all as they should be$/, "检查了 $1 条记忆，均正常"],
  [/^(\d+) terms looked at, all as in the full-text index$/, "检查了 $1 个词，均与全文索引一致"],
  [/^all in their place, all of them read and compared$/, "全部在位，均已读取并校验"],
  [/^every perception with a payload was looked at$/, "所有带数据的感知均已处理"],
  [/^no recall yet$/, "尚无回忆"],
  [/^(\d+) % of (\d+) recalls found nothing$/, "$2 次回忆中 $1 % 无结果"],
  [/^(\d+) active memories, (.+) in the file, (.+) of payloads$/, "$1 条有效记忆，文件 $2，数据 $3"],
  [/^(?:none|no embedder): recall works by words, place, time and structure$/, "无：按词语、位置、时间和结构检索"],
  [/^the features of all perceptions are computed$/, "所有感知的特征均已计算"],
  [/^the features of (\d+) perceptions are not computed yet$/, "$1 条感知的特征尚未计算"],
  [/^(\d+) perceptions wait to be comparable$/, "$1 条感知等待比较"],
  [/^loaded and up to date$/, "已加载且为最新"],
  [/^not loaded yet; the first recall loads them$/, "尚未加载；第一次回忆时加载"],
  [/^no write is queued$/, "没有等待的写入"],
  [/^(\d+) writes are queued$/, "$1 个写入在排队"],
  [/^no budget: payloads stay until the disk is full$/, "无预算：数据会一直保留到磁盘写满"],
  [/^the budget is (.+), of which (.+) are for the page caches of SQLite$/, "预算 $1，其中 $2 用于 SQLite 页缓存"],
  [/^(\d+) memories have no vector of (.+) yet$/, "$1 条记忆还没有 $2 的向量"],
  [/^every memory has its vector of (.+)$/, "所有记忆都有 $1 的向量"],
  [/^they are worked out in the background while a node runs$/, "节点运行时会在后台处理"],
  [/^served read-only, as was asked$/, "按要求以只读方式提供"],
  [/^the memory is served read-only: /, "记忆以只读方式提供："],
];

/** The name of a check or worker. */
export const nameOf = (name: string): string => (lang.value === "zh" && names[name]) || name;

/** What a check or worker says. */
export function detailOf(text: string): string {
  const known = lang.value === "zh" ? details.find(([of]) => of.test(text)) : undefined;
  return known ? text.replace(known[0], known[1]) : text;
}
