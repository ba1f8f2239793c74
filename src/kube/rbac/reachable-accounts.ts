import { FLUX_KINDS } from '../flux-kinds.ts'
import type { Authorizer, Grant } from './authorizer.ts'
import { type ResourceRequest, ruleAllows, type UserInfo, userInfo, userOfAccount } from './policy-rule.ts'

export interface Account {
  readonly namespace: string
  readonly name: string
}

/** How one user becomes another. */
interface Reach {
  readonly account: Account
  /** Who does it: the user asked about, or an account reached before. */
  readonly from: string
  /** `runs pods`, `requests tokens`, `impersonates`, `executes in pods`, `reads token secrets`, `runs Flux objects`. */
  readonly way: string
  /** What allows it. */
  readonly grant: Grant
}

interface Way {
  readonly way: string
  readonly verbs: readonly string[]
  readonly apiGroup: string
  /** `resource` or `resource/subresource`. */
  readonly resources: readonly string[]
}

const WRITES = ['create', 'patch', 'update']

/** Who may do one of these in a namespace acts as any account of it: each of them names the account that runs it. */
const WAYS: readonly Way[] = [
  { way: 'runs pods', verbs: WRITES, apiGroup: '', resources: ['pods', 'replicationcontrollers'] },
  {
    way: 'runs pods',
    verbs: WRITES,
    apiGroup: 'apps',
    resources: ['daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  },
  { way: 'runs pods', verbs: WRITES, apiGroup: 'batch', resources: ['cronjobs', 'jobs'] },
  { way: 'runs pods', verbs: WRITES, apiGroup: 'argoproj.io', resources: ['cronworkflows', 'rollouts', 'workflows'] },
  { way: 'runs pods', verbs: WRITES, apiGroup: 'keda.sh', resources: ['scaledjobs'] },
  { way: 'runs pods', verbs: WRITES, apiGroup: 'serving.knative.dev', resources: ['configurations', 'services'] },
  ...FLUX_KINDS.filter(row => row.applies).map(({ group, plural }) => ({
    way: 'runs Flux objects',
    verbs: WRITES,
    apiGroup: group,
    resources: [plural],
  })),
  { way: 'executes in pods', verbs: ['create', 'get'], apiGroup: '', resources: ['pods/attach', 'pods/exec'] },
  { way: 'executes in pods', verbs: ['patch', 'update'], apiGroup: '', resources: ['pods/ephemeralcontainers'] },
  { way: 'reads token secrets', verbs: ['get', 'list', 'watch'], apiGroup: '', resources: ['secrets'] },
]

/** Rights over one account, which resourceNames may limit to it. */
const NAMED: readonly Way[] = [
  { way: 'requests tokens', verbs: ['create'], apiGroup: '', resources: ['serviceaccounts/token'] },
  { way: 'impersonates', verbs: ['impersonate'], apiGroup: '', resources: ['serviceaccounts'] },
  {
    way: 'impersonates',
    verbs: ['impersonate:serviceaccount'],
    apiGroup: 'authentication.k8s.io',
    resources: ['serviceaccounts'],
  },
]

type Found = Pick<Reach, 'way' | 'grant'>

/** How a user becomes any account of a namespace ('': of every namespace); undefined where nothing that is known allows it. */
function wayInto(authorizer: Authorizer, user: UserInfo, namespace: string): Found | undefined {
  const { grants } = authorizer.held(user, namespace)
  for (const way of WAYS) {
    for (const request of requests(way, namespace, '')) {
      // one object that it may write is enough
      const grant = grants.find(({ rule }) => ruleAllows({ ...rule, resourceNames: [] }, request))
      if (grant) return { way: way.way, grant }
    }
  }
  return wayToAccount(authorizer, user, { namespace, name: '' })
}

/** How a user becomes one account by a right over that account ('': over all of the namespace). */
function wayToAccount(authorizer: Authorizer, user: UserInfo, { namespace, name }: Account): Found | undefined {
  const { grants } = authorizer.held(user, namespace)
  for (const way of NAMED) {
    for (const request of requests(way, namespace, name)) {
      const grant = grants.find(({ rule }) => ruleAllows(rule, request))
      if (grant) return { way: way.way, grant }
    }
  }
  return undefined
}

/**
 * Every one of `accounts` that a user can act as, also by way of another, by user name: an account in a namespace where the
 * user runs pods is as good as the user's own. The result names the shortest way.
 */
export function reachableAccounts(
  authorizer: Authorizer,
  user: UserInfo,
  accounts: Iterable<Account>,
): ReadonlyMap<string, Reach> {
  const byNamespace = Map.groupBy(accounts, account => account.namespace)
  const reached = new Map<string, Reach>()
  const open = [user]
  for (let at = 0; at < open.length; at++) {
    const from = open[at]
    if (!from) break
    for (const namespace of namespacesFor(authorizer, from, byNamespace)) {
      const here = byNamespace.get(namespace) ?? []
      const left = here.filter(({ name }) => !reached.has(userOfAccount(namespace, name)))
      if (left.length === 0) continue
      const whole = wayInto(authorizer, from, namespace)
      for (const account of left) {
        const way = whole ?? wayToAccount(authorizer, from, account)
        const name = userOfAccount(namespace, account.name)
        if (!way || name === user.name) continue
        reached.set(name, { account, from: from.name, ...way })
        open.push(userInfo(name))
      }
      byNamespace.set(namespace, whole ? [] : here)
    }
  }
  return reached
}

/** Where a user may have a way into: everywhere by what it holds in the whole cluster, else where it is bound. */
function namespacesFor(
  authorizer: Authorizer,
  user: UserInfo,
  byNamespace: ReadonlyMap<string, unknown>,
): Iterable<string> {
  const named = authorizer.held(user, '').grants.some(({ rule }) => rule.resourceNames.length > 0)
  if (named || wayInto(authorizer, user, '')) return [...byNamespace.keys()]
  return authorizer.bindings.namespacesOf(user)
}

function requests({ verbs, apiGroup, resources }: Way, namespace: string, name: string): ResourceRequest[] {
  return resources.flatMap(text => {
    const [resource = '', subresource] = text.split('/')
    return verbs.map(verb => ({ verb, apiGroup, resource, subresource, namespace, name }))
  })
}
