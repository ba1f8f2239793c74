import type { AdmissionOperation, AdmissionRequest } from '../../../src/admission/admission/admission-request.ts'
import { evaluateAdmission } from '../../../src/admission/policy-engines.ts'
import { nodeOf } from '../../../src/fleet/model/kustomization-spec.ts'
import { customScopes, scopeOf } from '../../../src/kube/capabilities/scope.ts'
import { canonical, type Json, type MapNode } from '../../../src/kube/node.ts'
import { idOf, type KubeObject } from '../../../src/kube/object.ts'
import { type UserInfo, userInfo } from '../../../src/kube/rbac/policy-rule.ts'
import { customPlurals, resourceOf } from '../../../src/kube/rbac/resources.ts'
import { partsNotEvaluated } from '../../../src/rules/policies/policy-coverage.ts'
import { testWorld } from '../kyverno-tests/test-world.ts'
import type { ChainsawStep, ChainsawTest, Fields } from './read-chainsaw.ts'

/** What a test expects of one request, and what we answer. */
export interface ChainsawRow {
  readonly request: string
  readonly expected: 'denied' | 'admitted'
  readonly actual: 'denied' | 'admitted' | 'not evaluated'
  readonly why: string
}

const ORIGIN = { repository: '', file: 'chainsaw', line: 1, column: 1 }
const objectOf = (json: Json): KubeObject => ({ root: nodeOf(json, ORIGIN) as MapNode, trail: [] })

/** Kinds of policies and exceptions, whose own writes are not compared: Kyverno validates them itself. */
const OF_POLICIES = /^(?:kyverno\.io|policies\.kyverno\.io|admissionregistration\.k8s\.io)\//

/** The administrator of a cluster that kubeadm makes. */
const ADMIN: UserInfo = { name: 'kubernetes-admin', groups: ['kubeadm:cluster-admins', 'system:authenticated'] }
const BASE: readonly Fields[] = [
  {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
    metadata: { name: 'kubeadm:cluster-admins' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'kubeadm:cluster-admins' }],
  },
  ...['default', 'kube-system', 'kyverno'].map(name => ({
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
  })),
]

/** Kyverno with flags. */
const controller = (args: readonly string[]): Fields => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
  metadata: { name: 'kyverno-admission-controller', namespace: 'kyverno' },
  spec: { template: { spec: { containers: [{ name: 'kyverno', args: [...args] }] } } },
})

/** Kyverno's flags in most of its tests (scripts/config/standard/kyverno.yaml). */
const FLAGS = ['--enablePolicyException=true', '--exceptionNamespace=*']

/**
 * Plays the writes of a test on a cluster that starts with Kyverno alone, and compares each with what the test expects. `flags`: of
 * Kyverno's admission controller.
 */
export function playChainsaw({ namespace, steps }: ChainsawTest, flags: readonly string[] = FLAGS): ChainsawRow[] {
  const metadata = { name: namespace, labels: { 'kubernetes.io/metadata.name': namespace } }
  const cluster = new Cluster([...BASE, controller(flags), { apiVersion: 'v1', kind: 'Namespace', metadata }])
  const rows: ChainsawRow[] = []
  let unknown = ''
  for (const step of steps) {
    if (step.verb === 'script') {
      const expected = step.isRefused({}) ? 'denied' : 'admitted'
      const why = `script: ${step.script!.replaceAll(/\s+/g, ' ').slice(0, 80)}`
      rows.push({ request: 'script', expected, actual: 'not evaluated', why })
      unknown = 'a write after a script that is not followed'
      continue
    }
    for (const written of step.objects) {
      const row = played(cluster, step, written, step.namespace ?? namespace)
      if (row) rows.push(unknown === '' ? row : { ...row, actual: 'not evaluated', why: unknown })
    }
  }
  return rows
}

function played(cluster: Cluster, step: ChainsawStep, written: Fields, namespace: string): ChainsawRow | undefined {
  const refused = step.isRefused(written)
  const placed = cluster.placed(written, namespace)
  const old = cluster.find(placed)
  const isDeletion = step.verb === 'delete'
  if (isDeletion && !old) return undefined
  const merges = old && (step.verb === 'apply' || step.verb === 'patch')
  const object = isDeletion ? old! : merges ? (merged(old, placed) as Fields) : placed
  const operation: AdmissionOperation = isDeletion ? 'DELETE' : old ? 'UPDATE' : 'CREATE'
  const request = `${operation} ${nameOf(object)}`
  const isOfPolicies = OF_POLICIES.test(`${String(object.apiVersion)}/`)
  const row = isOfPolicies ? undefined : rowOf(cluster, { object, old, operation, step, refused, request })
  if (refused ?? row?.actual === 'denied') return refused === undefined ? undefined : row
  isDeletion ? cluster.remove(object) : cluster.put(object)
  return refused === undefined ? undefined : row
}

function rowOf(
  cluster: Cluster,
  asked: {
    readonly object: Fields
    readonly old: Fields | undefined
    readonly operation: AdmissionOperation
    readonly step: ChainsawStep
    readonly refused: boolean | undefined
    readonly request: string
  },
): ChainsawRow | undefined {
  const { object, old, operation, step, refused, request } = asked
  if (cluster.policies.length === 0) return undefined
  const expected = refused ? 'denied' : 'admitted'
  const user = step.user === undefined ? ADMIN : userInfo(step.user)
  const { findings, notEvaluated } = evaluateAdmission(cluster.world(), cluster.request(object, old, operation, user))
  const denial = findings.find(({ action }) => action === 'deny')
  if (denial)
    return { request, expected, actual: 'denied', why: `${denial.policy.name}/${denial.rule}: ${denial.message}` }
  const [open] = notEvaluated
  if (open) return { request, expected, actual: 'not evaluated', why: open.why }
  // what generates or deletes admits every request
  const parts = [...new Set(cluster.policies.flatMap(partsOf))].filter(part => !/generat|delet/i.test(part))
  if (parts.length > 0)
    return { request, expected, actual: 'not evaluated', why: `the cluster of the test has ${parts.join(', ')}` }
  return { request, expected, actual: 'admitted', why: '' }
}

/** The parts of a policy that are never evaluated, with its kind. */
function partsOf(policy: Fields): string[] {
  const kind = `${String(policy.apiVersion).split('/')[0]}/${String(policy.kind)}`
  return partsNotEvaluated({ kind, object: objectOf(policy) }).map(part => (part === 'kind' ? kind : part))
}

const nameOf = ({ kind, metadata }: Fields) => {
  const { namespace, name } = metadata as Fields
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

/** As a JSON merge patch. */
function merged(old: Json, patch: Json): Json {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const base = typeof old === 'object' && old !== null && !Array.isArray(old) ? { ...(old as Fields) } : {}
  for (const [key, value] of Object.entries(patch as Fields)) {
    if (value === null) delete base[key]
    else base[key] = merged(base[key] ?? null, value)
  }
  return base
}

class Cluster {
  readonly #objects = new Map<string, Fields>()

  constructor(objects: readonly Fields[]) {
    for (const object of objects) this.put(object)
  }
  get policies(): readonly Fields[] {
    return [...this.#objects.values()].filter(({ apiVersion }) => OF_POLICIES.test(`${String(apiVersion)}/`))
  }
  world() {
    return testWorld(
      [...this.#objects.values()].map(one => kept(one)),
      ORIGIN,
    )
  }
  find(object: Fields): Fields | undefined {
    return this.#objects.get(keyOf(object))
  }
  put(object: Fields): void {
    this.#objects.set(keyOf(object), object)
  }
  remove(object: Fields): void {
    this.#objects.delete(keyOf(object))
  }
  placed(object: Fields, namespace: string): Fields {
    const metadata = (object.metadata ?? { name: object.name ?? '' }) as Fields
    if (metadata.namespace !== undefined || !this.#isNamespaced(object)) return { ...object, metadata }
    return { ...object, metadata: { ...metadata, namespace } }
  }
  request(object: Fields, old: Fields | undefined, operation: AdmissionOperation, user: UserInfo): AdmissionRequest {
    const made = kept(object)
    const id = idOf(made)
    return {
      ...{ operation, object: made, id, user },
      ...(old && operation === 'UPDATE' ? { old: kept(old) } : {}),
      resource: resourceOf(id.apiVersion, id.kind, customPlurals(this.#definitions())),
      isNamespaced: this.#isNamespaced(object),
    }
  }
  #isNamespaced({ apiVersion, kind }: Fields): boolean {
    const scopes = customScopes(this.#definitions())
    return scopeOf(String(apiVersion), String(kind), scopes) !== 'Cluster'
  }
  #definitions(): KubeObject[] {
    return [...this.#objects.values()].filter(({ kind }) => kind === 'CustomResourceDefinition').map(kept)
  }
}

const nodes = new WeakMap<Fields, KubeObject>()

function kept(object: Fields): KubeObject {
  const made = nodes.get(object) ?? objectOf(object)
  nodes.set(object, made)
  return made
}

function keyOf({ apiVersion, kind, metadata }: Fields): string {
  const { namespace = '', name = '' } = metadata as Fields
  const group = String(apiVersion).includes('/') ? String(apiVersion).split('/')[0] : ''
  return canonical(nodeOf([group!, String(kind), namespace, name], ORIGIN))
}
