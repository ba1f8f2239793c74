// What the scanner tells apart, after libyaml. A number each, because there are millions of them.
export const STREAM_END = 0
export const DOCUMENT_START = 1
export const DOCUMENT_END = 2
export const BLOCK_LIST_START = 3
export const BLOCK_MAP_START = 4
export const BLOCK_END = 5
export const FLOW_LIST_START = 6
export const FLOW_LIST_END = 7
export const FLOW_MAP_START = 8
export const FLOW_MAP_END = 9
export const BLOCK_ENTRY = 10
export const FLOW_ENTRY = 11
export const KEY = 12
export const VALUE = 13
export const ALIAS = 14
export const ANCHOR = 15
export const TAG = 16
export const PLAIN = 17
export const SINGLE_QUOTED = 18
export const DOUBLE_QUOTED = 19
export const LITERAL = 20
export const FOLDED = 21

/** Set on a token that turned out to begin an implicit key: a KEY stands before it. */
export const BEGINS_KEY = 1
/** Set with it where that key begins a block map: a BLOCK_MAP_START stands before the KEY. */
export const BEGINS_MAP = 2
