import { RBAC_GROUP } from '../../../kube/rbac/binding.ts'
import type { PolicyRule } from '../../../kube/rbac/policy-rule.ts'

/** Why a rule is too much. */
export interface Danger {
  /** What of the rule it is, for the identity of the violation: `bind`, `impersonate users`, `wildcards`. */
  readonly what: string
  readonly why: string
  /** Whether it lets its holder out of what was given; else it only deserves a look. */
  readonly escapes: boolean
}

const has = (values: readonly string[], ...wanted: string[]) => values.some(one => wanted.includes(one))
const WRITES = ['create', 'update', 'patch', '*']

/** What is asked of a rule, in this order; a rule with `*` says what it includes only by `wildcards`. */
const CHECKS: readonly ((rule: PolicyRule) => Danger | undefined)[] = [
  escalates,
  impersonates,
  editsNamespaces,
  reachesNodes,
  makesTokens,
  entersPods,
  readsSecrets,
  isWild,
]

/**
 * What is dangerous about one rule of a role. Sources: the RBAC good practices of Kubernetes; for namespaces/status and
 * namespaces/finalize GHSA-2ww6-hf35-mfjm; the matching as in RuleAllows of the API server.
 */
export function dangersOf(rule: PolicyRule): Danger[] {
  return CHECKS.map(check => check(rule)).filter(danger => danger !== undefined)
}

function escalates({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  const found = verbs.filter(verb => verb === 'escalate' || verb === 'bind')
  if (found.length === 0 || !has(apiGroups, RBAC_GROUP, '*') || !has(resources, 'roles', 'clusterroles', '*'))
    return undefined
  return { what: found.sort().join(' '), why: 'a subject can grant rights that it does not have', escapes: true }
}

function impersonates({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  // since 1.35 also `impersonate:user-info`, `impersonate-on:serviceaccount:...`
  if (!verbs.some(verb => verb.startsWith('impersonate'))) return undefined
  if (!has(apiGroups, '', 'authentication.k8s.io', '*')) return undefined
  const whom = resources.filter(one => /^(users|groups|serviceaccounts|uids|nodes|userextras(\/.*)?|\*)$/.test(one))
  if (whom.length === 0) return undefined
  return { what: `impersonate ${whom.sort().join(' ')}`, why: 'a subject can act as other accounts', escapes: true }
}

function editsNamespaces({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  if (!has(verbs, ...WRITES) || !has(apiGroups, '', '*')) return undefined
  const named = resources.filter(one => /^(namespaces(\/(status|finalize))?|\*\/(status|finalize))$/.test(one))
  if (named.length === 0) return undefined
  const why = 'a subject can change the Namespace, including its tenant and its Pod Security level'
  return { what: `write ${named.sort().join(' ')}`, why, escapes: true }
}

/** The same for what RBAC counts as parts of a Namespace: nobody who is given its content needs them. */
export function editsNamespaceParts({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  const parts = resources.filter(one => /^namespaces\/(status|finalize)$/.test(one))
  return parts.length > 0
    ? editsNamespaces({ verbs, apiGroups, resources: parts, resourceNames: [], nonResourceURLs: [] })
    : undefined
}

function reachesNodes({ apiGroups, resources }: PolicyRule): Danger | undefined {
  if (!has(apiGroups, '', '*') || !has(resources, 'nodes/proxy')) return undefined
  return {
    what: 'nodes/proxy',
    why: 'it runs commands in every pod of a node, past admission and audit',
    escapes: true,
  }
}

function makesTokens({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  if (!has(verbs, 'create', '*') || !has(apiGroups, '', '*')) return undefined
  if (!has(resources, 'serviceaccounts/token', '*/token')) return undefined
  const why = 'a subject can create tokens of other accounts in the namespace, including the reconciler'
  return { what: 'create serviceaccounts/token', why, escapes: false }
}

const INTO_PODS = [
  'pods/exec',
  'pods/attach',
  'pods/portforward',
  'pods/proxy',
  'pods/ephemeralcontainers',
  'services/proxy',
]
const INTO_ANY = ['*/exec', '*/attach', '*/portforward', '*/proxy', '*/ephemeralcontainers']

function entersPods({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  if (!has(verbs, 'get', ...WRITES) || !has(apiGroups, '', '*')) return undefined
  const found = resources.filter(one => INTO_PODS.includes(one) || INTO_ANY.includes(one))
  if (found.length === 0) return undefined
  return {
    what: found.sort().join(' '),
    why: 'it runs commands in pods, with the tokens of their accounts',
    escapes: false,
  }
}

function readsSecrets({ verbs, apiGroups, resources, resourceNames }: PolicyRule): Danger | undefined {
  if (!has(verbs, 'get', 'list', 'watch', '*') || !has(apiGroups, '', '*') || !has(resources, 'secrets'))
    return undefined
  if (resourceNames.length > 0) return undefined
  const why = 'a subject can read every Secret of the namespace, including account tokens'
  return { what: 'read secrets', why, escapes: false }
}

function isWild({ verbs, apiGroups, resources }: PolicyRule): Danger | undefined {
  const isStar = (value: string) => value === '*' || value.startsWith('*/') || value.endsWith('/*')
  const stars = [
    ...(verbs.includes('*') ? ['verbs'] : []),
    ...(apiGroups.includes('*') ? ['apiGroups'] : []),
    ...(resources.some(isStar) ? ['resources'] : []),
  ]
  if (stars.length === 0) return undefined
  const why = '"*" includes impersonate, bind and escalate, and everything that is added later'
  return { what: `* in ${stars.join(', ')}`, why, escapes: false }
}
