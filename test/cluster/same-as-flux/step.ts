import type { Json } from '../../../src/kube/node.ts'

/** What git and the cluster say of one Kustomization from a step on; what is absent stays as it was. */
interface NodeStep {
  readonly files?: Readonly<Record<string, string>>
  /** The revision that its artifact says it was built from; '' for none. */
  readonly origin?: string
  /** Beside interval, prune, account and source, which every one has. */
  readonly spec?: { readonly [field: string]: Json }
  /** It is deleted, as its parent does. */
  readonly isDeleted?: true
}

/** One step of a case. `NS` is the namespace in all that it holds; its own fields are those of the Kustomization `app`. */
export interface SameStep extends NodeStep {
  /** Other Kustomizations of the namespace, by name. */
  readonly more?: Readonly<Record<string, NodeStep>>
  /** Names of those that kustomize-controller applies before the others: which one it takes up first is left to chance. */
  readonly first?: readonly string[]
  /** What somebody does on the cluster before. */
  readonly before?: readonly Act[]
  /** What somebody does on the cluster as soon as it can be done: what controllers do to a workload that was applied. */
  readonly during?: readonly Act[]
}

export interface SameCase {
  readonly steps: readonly SameStep[]
  /** Its account may do everything on the cluster: a Kustomization of the platform. */
  readonly isPlatform?: true
  /** Its account may do everything in the namespace `NS-two`, too. */
  readonly hasSecond?: true
  /** Keys of DIFFERENCES that show here: what is not the same and why, listed in docs/worker.md. */
  readonly differs?: readonly string[]
  /** Those that show only where kustomize-controller was quicker than what it waits for. */
  readonly mayDiffer?: readonly string[]
}

/** A request of somebody who may do everything; one that finds nothing to act on is sent again until it does. */
export interface Act {
  readonly method: 'PATCH' | 'POST' | 'DELETE'
  readonly path: string
  readonly type?: string
  readonly body?: Json
  /** It is no matter where there is nothing to act on. */
  readonly isOptional?: true
}

const CORE = '/api/v1/namespaces/NS'
const PATHS: Readonly<Record<string, string>> = {
  ConfigMap: `${CORE}/configmaps`,
  Secret: `${CORE}/secrets`,
  ServiceAccount: `${CORE}/serviceaccounts`,
  Deployment: '/apis/apps/v1/namespaces/NS/deployments',
  Job: '/apis/batch/v1/namespaces/NS/jobs',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings',
  Kustomization: '/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/NS/kustomizations',
  Widget: '/apis/NS.example.com/v1/namespaces/NS/widgets',
}

const pathOf = (kind: string, name: string) => `${PATHS[kind]!}/${name}`
const MERGE = 'application/merge-patch+json'

/** Acts by kind and name. */
export const act = {
  /** Server-side apply with that manager, by force. */
  apply: (kind: string, name: string, body: { readonly [field: string]: Json }, manager = 'kubectl'): Act => ({
    method: 'PATCH',
    path: `${pathOf(kind, name)}?fieldManager=${manager}&force=true`,
    type: 'application/apply-patch+yaml',
    body: { apiVersion: 'v1', kind, metadata: { name, namespace: 'NS' }, ...body },
  }),
  /** As `kubectl edit` and `kubectl patch`. */
  patch: (kind: string, name: string, body: Json, manager = 'kubectl-edit'): Act => ({
    method: 'PATCH',
    path: `${pathOf(kind, name)}?fieldManager=${manager}`,
    type: MERGE,
    body,
  }),
  status: (kind: string, name: string, status: Json): Act => ({
    method: 'PATCH',
    path: `${pathOf(kind, name)}/status?fieldManager=controller`,
    type: MERGE,
    body: { status },
  }),
  create: (kind: string, body: Json): Act => ({ method: 'POST', path: PATHS[kind]!, body }),
  remove: (kind: string, name: string): Act => ({ method: 'DELETE', path: pathOf(kind, name) }),
}

const metadata = (name: string, more = '') => `metadata: {name: ${name}, namespace: NS${more}}`

/** Text of objects. */
export const map = (name: string, data = 'key: value', more = '') =>
  `apiVersion: v1\nkind: ConfigMap\n${metadata(name, more)}\ndata: {${data}}\n`
export const secret = (name: string, data = 'key: value', more = '') =>
  `apiVersion: v1\nkind: Secret\n${metadata(name, more)}\nstringData: {${data}}\n`
/** `annotation`: of kustomize.toolkit.fluxcd.io. */
export const annotated = (name: string, annotation: string, data = 'key: value') =>
  map(name, data, `, annotations: {kustomize.toolkit.fluxcd.io/${annotation}}`)
export const role = (name: string, more = '') =>
  `apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n${metadata(name, more)}\nrules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]\n`
export const deployment = (name: string, image = 'web:1', replicas = 1) =>
  `apiVersion: apps/v1\nkind: Deployment\n${metadata(name)}\nspec:\n  replicas: ${replicas}\n  selector: {matchLabels: {app: ${name}}}\n  template:\n    metadata: {labels: {app: ${name}}}\n    spec: {containers: [{name: web, image: "${image}"}]}\n`
export const job = (name: string, more = '') =>
  `apiVersion: batch/v1\nkind: Job\n${metadata(name)}\nspec:\n  ${more}template:\n    spec: {restartPolicy: Never, containers: [{name: run, image: "run:1"}]}\n`

export const one = { 'a.yaml': map('a') }
export const two = { 'a.yaml': map('a'), 'b.yaml': map('b') }
