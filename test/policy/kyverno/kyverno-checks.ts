import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { nodeOf } from '../../../src/fleet/model/synthetic.ts'
import type { Json } from '../../../src/kube/node.ts'
import { at, type MapNode } from '../../../src/kube/node.ts'
import { idOf, type KubeObject } from '../../../src/kube/object.ts'
import { userInfo } from '../../../src/kube/rbac/groups-of.ts'
import type { AdmissionRequest } from '../../../src/policy/admission/admission-request.ts'
import type { AdmissionWorld } from '../../../src/policy/admission/admission-world.ts'
import { computedRules } from '../../../src/policy/kyverno/computed-rules.ts'
import { evaluateRule, type RuleWorld } from '../../../src/policy/kyverno/evaluate-rule.ts'
import { appliedTo } from '../../../src/policy/kyverno/exceptions.ts'
import { type ContextValue, fromJson, isFields } from '../../../src/policy/kyverno/jmespath/values.ts'
import { matchesWildcard } from '../../../src/policy/kyverno/jmespath/wildcard.ts'
import type { RuleRequest } from '../../../src/policy/kyverno/rule-request.ts'
import { validateCel } from '../../../src/policy/kyverno/validate-cel.ts'

type Map_ = { readonly [key: string]: Json }

/** A line of `results` in a kyverno-test.yaml for one resource, with what is found here. */
export interface KyvernoCheck {
  readonly file: string
  readonly policy: string
  readonly rule: string
  readonly resource: string
  readonly type: string
  readonly expected: string
  readonly found: string
  /** What Kyverno or we say about it. */
  readonly why: string
}

const POLICIES = new Set(['ClusterPolicy', 'Policy'])
const ORIGIN = { repository: '', file: '', line: 1, column: 1 }

/** The files of Kyverno's own tests below a folder. */
export function kyvernoTests(root: string): string[] {
  return readdirSync(root, { recursive: true })
    .map(String)
    .filter(file => /(?:^|\/)kyverno-test\.yaml$/.test(file))
    .sort()
    .map(file => join(root, file))
}

/** Every check of validating rules of a kyverno-test.yaml. */
export function kyvernoChecks(file: string): KyvernoCheck[] {
  const [test] = documentsIn(file)
  const folder = dirname(file)
  const load = (key: string) => listOf(test?.[key]).flatMap(path => loaded(folder, String(path)))
  const [policies, resources] = [load('policies'), [...load('resources'), ...load('targetResources')]]
  const exceptions = load('exceptions').map(objectOf)
  const values = valuesOf(test, folder)
  const user = test?.userinfo ? documentsIn(join(folder, String(test.userinfo)))[0] : undefined
  return listOf(test?.results).flatMap(one => {
    const result = one as Map_
    const policy = policies.find(
      ({ kind, metadata }) => POLICIES.has(String(kind)) && nameOf(metadata) === bare(result.policy),
    )
    const names = listOf(result.resources ?? (result.resource ? [result.resource] : []))
    if (!policy || result.rule === undefined || result.status !== undefined) return []
    return names.flatMap(name => {
      const found = resources.filter(object => isNamed(object, String(name), result))
      return found.slice(0, 1).flatMap(object => checkOf({ file, policy, result, object, exceptions, values, user }))
    })
  })
}

interface Asked {
  readonly file: string
  readonly policy: Map_
  readonly result: Map_
  readonly object: Map_
  readonly exceptions: readonly KubeObject[]
  readonly values: Map_
  readonly user: Map_ | undefined
}

function checkOf({ file, policy, result, object, exceptions, values, user }: Asked): KyvernoCheck[] {
  const rule = String(result.rule)
  const made = computedRules(objectOf(policy), String(object.kind))
  const own = made.findLast(({ writtenName, name }) => name === rule || writtenName === rule)
  const validate = own?.rule.get('validate')
  if (!own || !isFields(validate)) return []
  const variables = variablesFor(values, nameOf(policy.metadata), nameOf(object.metadata), rule)
  const request = requestOf(object, variables, values, user)
  const mocked = new Set([...variables.keys()].map(key => key.split('.')[0]!))
  const context = own.rule.get('context')
  const entries = Array.isArray(context)
    ? context.filter(entry => !mocked.has(String(isFields(entry) && entry.get('name'))))
    : []
  const named = exceptions.filter(one => isFor(one, nameOf(policy.metadata), own.name))
  const world: RuleWorld = {
    policyNamespace: policy.kind === 'Policy' ? (stringOf((policy.metadata as Map_).namespace) ?? '') : '',
    configMap: () => undefined,
    validateCel: one => validateCel(one, NO_WORLD, admissionOf(object, request)),
    exceptions: (at_, json) => appliedTo(named, at_, json),
  }
  const rule_ = new Map<string, ContextValue>([...own.rule, ['context', entries]])
  const answer = evaluateRule({ ...own, rule: rule_ }, request, world)
  const type =
    ['pattern', 'anyPattern', 'deny', 'foreach', 'cel', 'podSecurity'].find(key => validate.has(key)) ?? 'other'
  return [
    {
      file,
      policy: nameOf(policy.metadata),
      rule,
      resource: nameOf(object.metadata),
      type,
      expected: String(result.result),
      found: answer === undefined ? 'skip' : answer.status === 'unclear' ? 'not evaluated' : answer.status,
      why: answer && 'why' in answer ? answer.why : answer && 'message' in answer ? answer.message : '',
    },
  ]
}

const NO_WORLD: AdmissionWorld = {
  policies: () => [],
  policiesIn: () => [],
  object: () => undefined,
  objects: () => [],
  authorize: () => ({ allowed: false, reason: '' }),
}

function admissionOf(json: Map_, { operation, namespace, user }: RuleRequest): AdmissionRequest {
  const object = objectOf(json)
  return {
    ...{ operation, object, id: { ...idOf(object), namespace } },
    user: user ?? { name: '', groups: [] },
    resource: `${String(json.kind).toLowerCase()}s`,
    isNamespaced: namespace !== '',
  }
}

function isFor(exception: KubeObject, policy: string, rule: string): boolean {
  const list = at(exception.root, ['spec', 'exceptions'])
  return (
    list?.type === 'list' &&
    list.items.some(one => {
      const [name, rules] = [at(one, ['policyName']), at(one, ['ruleNames'])]
      const isNamed_ = name?.type === 'scalar' && String(name.value).split('/').at(-1) === policy
      return (
        isNamed_ &&
        rules?.type === 'list' &&
        rules.items.some(item => item.type === 'scalar' && matchesWildcard(String(item.value), rule))
      )
    })
  )
}

function requestOf(
  object: Map_,
  variables: ReadonlyMap<string, Json>,
  values: Map_,
  user: Map_ | undefined,
): RuleRequest {
  const [group, version] = String(object.apiVersion).includes('/')
    ? (String(object.apiVersion).split('/') as [string, string])
    : ['', String(object.apiVersion)]
  const metadata = object.metadata as Map_
  const namespace = stringOf(metadata.namespace) ?? (CLUSTER_KINDS.has(String(object.kind)) ? '' : 'default')
  const operation = (stringOf(variables.get('request.operation')) ?? 'CREATE') as RuleRequest['operation']
  const full = namespace === '' ? object : { ...object, metadata: { ...metadata, namespace } }
  const value = fromJson(full as Json)
  const labels = new Map(
    listOf(values.namespaceSelector).flatMap(one =>
      (one as Map_).name === namespace ? Object.entries(((one as Map_).labels ?? {}) as Record<string, string>) : [],
    ),
  )
  const info = (user?.userInfo ?? {}) as Map_
  const context: Record<string, Json> = {
    request: {
      operation,
      ...(namespace ? { namespace } : {}),
      name: nameOf(metadata),
      kind: { group, version, kind: String(object.kind) },
      ...(user ? { userInfo: info as Json, roles: user.roles ?? [], clusterRoles: user.clusterRoles ?? [] } : {}),
      ...(operation === 'CREATE' ? {} : { oldObject: full as Json }),
      ...(operation === 'DELETE' ? {} : { object: full as Json }),
    } as Json,
    serviceAccountName: '',
    serviceAccountNamespace: '',
  }
  const account = /^system:serviceaccount:([^:]*):([^:]*)$/.exec(String(info.username ?? ''))
  if (account) [context.serviceAccountNamespace, context.serviceAccountName] = [account[1]!, account[2]!]
  for (const [key, one] of variables) place(context, key.split('.'), one)
  return {
    ...{ operation, object: value, group, version, kind: String(object.kind), namespace, name: nameOf(metadata) },
    ...(user ? { user: { ...userInfo(String(info.username ?? '')), groups: listOf(info.groups).map(String) } } : {}),
    roles: listOf(user?.roles).map(String),
    clusterRoles: listOf(user?.clusterRoles).map(String),
    namespaceLabels: { labels, isComplete: true },
    context: fromJson(context as Json) as ReadonlyMap<string, ContextValue>,
  }
}

const CLUSTER_KINDS = new Set([
  ...['Namespace', 'ClusterRole', 'ClusterRoleBinding', 'StorageClass', 'PersistentVolume', 'Node', 'IngressClass'],
  ...['CustomResourceDefinition', 'PriorityClass', 'ClusterPolicy', 'GatewayClass', 'ClusterIssuer'],
])

function place(context: Record<string, Json>, [first = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    context[first] = value
    return
  }
  const below = context[first]
  const made = typeof below === 'object' && below !== null && !Array.isArray(below) ? { ...below } : {}
  context[first] = made
  place(made, rest, value)
}

/** Values for a resource: of everything, of the resource, and of the rule. */
function variablesFor(values: Map_, policy: string, resource: string, rule: string): ReadonlyMap<string, Json> {
  const made = new Map<string, Json>(Object.entries((values.globalValues ?? {}) as Map_))
  for (const one of listOf(values.policies) as Map_[]) {
    if (bare(one.name) !== policy) continue
    const rules = listOf(one.rules) as Map_[]
    for (const given of rules) {
      if (given.name !== rule) continue
      for (const [key, value] of Object.entries((given.values ?? {}) as Map_)) made.set(key, value)
    }
    for (const given of listOf(one.resources) as Map_[]) {
      if (!matchesWildcard(String(given.name), resource)) continue
      for (const [key, value] of Object.entries((given.values ?? {}) as Map_)) made.set(key, value)
    }
  }
  return made
}

function valuesOf(test: Map_ | undefined, folder: string): Map_ {
  const inline = test?.values as Map_ | undefined
  const named = test?.variables ? documentsIn(join(folder, String(test.variables)))[0] : undefined
  return inline ?? named ?? {}
}

function isNamed(object: Map_, name: string, result: Map_): boolean {
  const metadata = (object.metadata ?? {}) as Map_
  const slash = name.lastIndexOf('/')
  const isKind = result.kind === undefined || result.kind === object.kind
  return (
    isKind &&
    nameOf(metadata) === name.slice(slash + 1) &&
    (slash < 0 || (metadata.namespace ?? 'default') === name.slice(0, slash))
  )
}

function loaded(folder: string, path: string): Map_[] {
  const file = join(folder, path)
  return existsSync(file) ? documentsIn(file) : []
}

function documentsIn(file: string): Map_[] {
  if (!existsSync(file)) return []
  const all = parseAllDocuments(readFileSync(file, 'utf8'), { uniqueKeys: false, version: '1.1' })
  const found = (Array.isArray(all) ? all : []).map(document => document.toJS() as Map_ | null)
  return found.flatMap(one => {
    if (one === null || typeof one !== 'object') return []
    return one.kind === 'List' ? (listOf(one.items) as Map_[]) : [one]
  })
}

const objectOf = (json: Map_): KubeObject => ({ root: nodeOf(json as Json, ORIGIN) as MapNode, trail: [] })
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
const stringOf = (value: Json | undefined) => (typeof value === 'string' ? value : undefined)
const nameOf = (metadata: Json | undefined) => String(((metadata ?? {}) as Map_).name ?? '')
const bare = (name: Json | undefined) =>
  String(name ?? '')
    .split('/')
    .at(-1)!
