// What the checks and workers of the node say, in Chinese. The node writes English; a text whose code is not
// known here is shown as it writes it.

import { fill, lang } from "../app/text";

const names: Record<string, string> = {
  file: "数据库文件",
  texts: "文本校验",
  permissions: "文件权限",
  encryption: "加密",
  writing: "写入",
  log: "日志",
  "full-text index": "全文索引",
  "duplicate signatures": "去重签名",
  tags: "标签",
  "index contents": "索引内容",
  "indexes in memory": "内存索引",
  "index of words in memory": "内存词语索引",
  "index of vectors in memory": "内存向量索引",
  payloads: "感知数据",
  likeness: "相似特征",
  backup: "备份",
  "zero-hit rate": "无结果率",
  size: "大小",
  embedder: "嵌入模型",
  reranker: "重排模型",
  vectors: "向量",
  writer: "写入队列",
  clock: "时钟",
  retention: "保留策略",
  memory: "内存",
};

/** Texts by their codes. {0} is the first value of the text. */
const details: Record<string, string> = {
  // checks
  pages_readable: "每一页都可正常读取",
  owner_only: "只有所有者能读取文件及其数据",
  encrypted: "文件及其数据已加密；可打开的密钥数：{0}",
  payloads_in_clear: "{0} 份数据未加密",
  log_free: "可全部写回数据库文件",
  still_loading: "未比较：仍在读取",
  being_learnt: "未比较：正在写入记忆",
  words_match: "含 {0} 条文本，与数据表一致",
  index_in_step: "与数据表一致",
  contents_match: "检查了 {0} 条记忆，均正常",
  texts_match: "每条记忆都与其校验和一致",
  payloads_present: "全部在位；已读取并校验 {1} 中的 {0}（--deep 读取全部）",
  payloads_match: "全部在位，均已读取并校验",
  vectors_behind: "{0} 条记忆还没有向量",
  vectors_refused: "每条记忆都有向量，但模型拒绝了 {0} 条的文本",
  vectors_present: "每条记忆都有向量",
  vectors_indexed: "含 {0} 个向量，每个问题读取 {1} 个",
  reranker_answers: "{0} 可正常应答",
  no_recall: "尚无回忆",
  zero_hits: "{1} 次回忆中 {0} % 无结果",
  sizes: "{0} 条有效记忆，文件 {1}，数据 {2}",
  read_only_asked: "按要求以只读方式提供",
  clock_set_back: "最新的记忆比本机时钟早存了 {0}：时钟被调回过",
  sources_ahead: "{0} 条记忆的观测时间晚于存储时间，最多晚 {1}",
  clock_not_set: "{0} 条记忆的时间在 1980 年以前：当时时钟未设置",
  // checks and workers
  no_embedder: "无：按词语、位置、时间和结构检索",
  features_complete: "所有感知的特征均已计算",
  features_waiting: "{0} 条感知的特征尚未计算",
  // workers
  vectors_waiting: "{0} 条记忆还没有 {1} 的向量",
  vectors_complete: "所有记忆都有 {0} 的向量",
  evicted: "已移除 {0} 份数据，{1}",
  no_budget: "无预算：数据会一直保留到磁盘写满",
  indexes_loaded: "已加载且为最新",
  indexes_not_loaded: "尚未加载；第一次回忆时加载",
  no_write: "没有等待的写入",
  writes_queued: "{0} 个写入在排队",
  read_only: "记忆以只读方式提供：{0}",
  memory_budget: "预算 {0}，其中 {1} 用于 SQLite 页缓存",
};

/** What can be done about the findings of checks. */
const remedies: Record<string, string> = {
  payloads_in_clear: "停止所有使用该文件的 robotmem，再次运行 robotmem encrypt，它会继续",
  still_loading: "写入较少时再运行 robotmem doctor",
  being_learnt: "写入较少时再运行 robotmem doctor",
  features_waiting: "节点运行时会在后台处理",
  vectors_behind: "带嵌入模型的节点运行时会在后台处理",
  clock_set_back: "请校准本机时钟（例如用 NTP）；此前新记忆会排在旧记忆之后",
  sources_ahead: "robotmem list 会先列出它们：请核对其来源的时钟",
  clock_not_set: "robotmem list --before 1980-01-01 会列出它们；最好校正时钟后重新导入",
};

interface Said {
  detail: string;
  remedy?: string;
  code?: string;
  values?: string[];
}

/** The name of a check or worker. */
export const nameOf = (name: string): string => (lang.value === "zh" && names[name]) || name;

/** What a check or worker says. */
export function detailOf({ detail, code, values }: Said): string {
  const known = lang.value === "zh" ? details[code ?? ""] : undefined;
  return known ? fill(known, Object.fromEntries((values ?? []).entries())) : detail;
}

/** What can be done about what a check found. */
export function remedyOf({ remedy = "", code }: Said): string {
  return (lang.value === "zh" && remedies[code ?? ""]) || remedy;
}
