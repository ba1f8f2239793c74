import type { PolicyRule } from '../../../../src/kube/rbac/policy-rule.ts'

/** A rule as `verbs groups:resources [=names]` or `verbs /paths`; lists with commas: `get,list ,apps:pods =a,b`. A path that is only a star: `path:*`. */
export function ruleOf(text: string): PolicyRule {
  const [verbs = '', target = '', names] = text.split(' ')
  const none: string[] = []
  const list = (part: string) => part.split(',')
  if (target.startsWith('/') || target.startsWith('path:')) {
    const nonResourceURLs = list(target.replace(/^path:/, ''))
    return { verbs: list(verbs), apiGroups: none, resources: none, resourceNames: none, nonResourceURLs }
  }
  const colon = target.indexOf(':')
  return {
    verbs: list(verbs),
    apiGroups: list(target.slice(0, colon)),
    resources: list(target.slice(colon + 1)),
    resourceNames: names ? list(names.slice(1)) : none,
    nonResourceURLs: none,
  }
}
