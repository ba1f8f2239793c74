/** One rule of a Role or ClusterRole, as the API server keeps it: absent lists are empty ones. */
export interface PolicyRule {
  readonly verbs: readonly string[]
  /** '' is the core group. */
  readonly apiGroups: readonly string[]
  /** `pods`, `pods/log`, a star for everything, a star before the slash for that subresource of everything. */
  readonly resources: readonly string[]
  /** Empty: every name. */
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/**
 * A rule as the API server writes it into a refusal: `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}`
 * (CompactString of k8s.io/kubernetes pkg/apis/rbac/v1).
 */
export function compactString(rule: PolicyRule): string {
  const parts: [string, readonly string[]][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  const written = parts.filter(([, values]) => values.length > 0).map(([key, values]) => `${key}:${quoteList(values)}`)
  return `{${written.join(', ')}}`
}

/** A list of texts as Go's `%q` prints it: `["a" "b"]`. */
export function quoteList(values: readonly string[]): string {
  return `[${values.map(quote).join(' ')}]`
}

const NAMED = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
])

/** A text as Go's `%q` prints it; what cannot be printed is escaped, so it is safe on a terminal. */
export function quote(text: string): string {
  const escaped = text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, character => {
    const code = character.codePointAt(0) ?? 0
    const named = NAMED.get(character)
    if (named !== undefined) return named
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
  return `"${escaped}"`
}
