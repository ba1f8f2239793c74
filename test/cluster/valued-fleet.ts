import type { ClusterClient } from '../../src/cluster/client.ts'
import { openKms } from '../../src/cluster/open-kms.ts'
import { packSnapshot } from '../../src/git/tree.ts'
import { approve } from '../../src/verdict/approve.ts'
import type { Approved } from '../../workers/apply/approved-nodes.ts'
import { openApproved } from '../../workers/apply/open-approved.ts'
import { evaluate, KeptFleet } from '../../workers/fleets/evaluate.ts'
import type { EvaluateRequest } from '../../workers/fleets/protocol.ts'
import { binding } from './cluster-under-test.ts'

export type Files = Readonly<Record<string, string>>

const URL = 'https://github.com/acme/fleet'
const source = (namespace: string) => `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: ${namespace}}
spec: {interval: 1m, url: '${URL}', ref: {branch: main}}
---
`
const kustomization = (namespace: string, name: string, path: string, account: string, more: string) =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ${name}, namespace: ${namespace}}
spec: {interval: 1h, path: ./${path}, prune: true, serviceAccountName: ${account}, sourceRef: {kind: GitRepository, name: flux-system}${more}}
---
`

/** A fleet whose platform has a Kustomization \`own\` in flux-system, and a tenant one \`app\` in apps; \`spec\`: their other fields. */
export function valuedFleet(files: Files, spec: { readonly own?: string; readonly app?: string } = {}): Files {
  const account = `apiVersion: v1
kind: Namespace
metadata: {name: apps, labels: {toolkit.fluxcd.io/tenant: apps}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: dev-team, namespace: apps}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: dev-team-reconciler, namespace: apps}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]
---
`
  const own = spec.own === undefined ? '' : kustomization('flux-system', 'own', 'own', 'kustomize-controller', spec.own)
  const app = spec.app === undefined ? '' : source('apps') + kustomization('apps', 'app', 'app', 'dev-team', spec.app)
  return {
    'clusters/staging/flux-system/gotk-sync.yaml':
      source('flux-system') +
      kustomization('flux-system', 'flux-system', 'clusters/staging', 'kustomize-controller', ''),
    'clusters/staging/tenant.yaml': account + own + app,
    ...files,
  }
}

/** Evaluates a fleet, reads what it needs on the cluster, and evaluates it again, as a run of the worker does. */
export class ValuedRun {
  readonly #kept = new KeptFleet()
  /** What was asked, to see what is told to whom. */
  readonly asked: EvaluateRequest[] = []
  readonly #valuesKey: string

  constructor(valuesKey = 'k') {
    this.#valuesKey = valuesKey
  }

  async open(client: ClusterClient, files: Files): Promise<Approved> {
    const commit = 'a'.repeat(40)
    const tree = packSnapshot(Object.entries(files).map(([path, content]) => ({ path, content })))
    const fleet = { url: URL, branch: 'main', commit, tree }
    const head = { fleet, sources: [], opaque: [], facts: [], disabledRules: [], registries: [] }
    const earlier = { states: [], isAll: true }
    const question: EvaluateRequest = { type: 'evaluate', head, earlier, today: '2026-01-01' }
    const answer = this.#evaluate(question)
    if (answer.type !== 'evaluated') throw new Error(JSON.stringify(answer))
    const { evaluation, baseline } = answer
    const { revisionSet } = evaluation.verdict
    const here = binding('staging', '')
    const heads = { revisionSet, complete: true, fleet: { url: URL, branch: 'main', commit }, sources: [] }
    const { apply, held, open } = approve({
      binding: { cluster: here.name, fleet: here.fleet, branch: here.branch },
      evaluated: { revisionSet, nodes: evaluation.nodes, baseline },
      heads,
    })
    const nodes = evaluation.nodes
    const approved = { nodes, evaluation, apply, held, fleetCommit: commit, open, question, heads }
    const context = {
      evaluator: { evaluate: async (asked: never) => this.#evaluate(asked) },
      valuesKey: this.#valuesKey,
    }
    return openApproved(context, { client, kms: openKms([]) }, here, approved, AbortSignal.timeout(60_000))
  }

  #evaluate(question: EvaluateRequest) {
    this.asked.push(question)
    return evaluate(question, this.#kept)
  }
}
