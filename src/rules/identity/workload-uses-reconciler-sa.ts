import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { applierKinds } from '../../fleet/model/appliers.ts'
import { HELM_RELEASE } from '../../flux/kinds.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, type KubeObject } from '../../kube/object.ts'
import { codeWord, message } from '../../message/message.ts'
import { everyMap } from '../model/every-map.ts'
import type { Rule } from '../model/rule.ts'
import { podsOf } from '../workloads/support/pods-of.ts'
import { accountOfPod, getsToken } from './support/account-of-pod.ts'

/** A pod with the token of the account that deploys the namespace. */
export const workloadUsesReconcilerSa: Rule = {
  id: 'workload-uses-reconciler-sa',
  severity: 'high',
  level: 'warning',
  title: 'Workload that runs as the reconciler account',
  why: "Flux's account can write everything in the namespace. A pod that runs as this account exposes its token: an attacker who compromises the pod controls the namespace and, with Capsule, the tenant.",
  source: 'https://kubernetes.io/docs/concepts/security/rbac-good-practices/',
  docs: 'Create a separate account with a Role for the workload. If the workload does not need the API, set `automountServiceAccountToken: false`.',
  kinds: 'every',
  *checkObject(subject, { index }) {
    const { node, object, id } = subject
    if (index.actsFor(node, object) === undefined) return
    for (const { path, account } of accountsOf(subject, index)) {
      if (index.reconciler(node.cluster, id.namespace, account) === undefined) continue
      yield {
        node,
        object,
        path,
        value: account,
        message: message`${objectPart(id.kind, id.namespace, id.name)} runs pods as account ${quoted('object', account)}, which Flux uses to deploy namespace ${quoted('object', id.namespace)}: the pods can read its token. Allowed: a separate account for the workload.`,
        fix: message`Set ${codeWord('serviceAccountName')} to an account with only the rights that the workload needs.`,
      }
    }
  },
}

interface Use {
  readonly path: Path
  readonly account: string
}

function* accountsOf(subject: Subject, index: FleetIndex): Iterable<Use> {
  const { object, kind, id } = subject
  for (const { path, spec } of podsOf(subject, index)) {
    if (!getsToken(spec)) continue
    // A pod that names none runs as `default`, which is for default-sa-privileged to keep empty.
    const field = ['serviceAccountName', 'serviceAccount'].find(name => stringAt(spec, [name]))
    if (field) yield { path: [...path, field], account: accountOfPod(spec) }
  }
  if (kind === HELM_RELEASE) yield* ofValues(object)
  // Workflows and pipelines name the account beside what they run; what Flux applies is meant to name it.
  const group = groupOf(id.apiVersion)
  if (!group.includes('.') || /\.(k8s\.io|fluxcd\.io)$/.test(group) || applierKinds.includes(kind)) return
  for (const field of ['serviceAccountName', 'serviceAccount']) {
    const account = stringAt(object.root, ['spec', field])
    if (account) yield { path: ['spec', field], account }
  }
}

/** How charts take the account of their pods. */
function* ofValues({ root }: KubeObject): Iterable<Use> {
  const values = at(root, ['spec', 'values'])
  if (!values) return
  for (const { path, node } of everyMap(values)) {
    for (const field of [['serviceAccountName'], ['serviceAccount', 'name'], ['serviceAccount']]) {
      const account = stringAt(node, field)
      if (account) yield { path: ['spec', 'values', ...path, ...field], account }
    }
  }
}
