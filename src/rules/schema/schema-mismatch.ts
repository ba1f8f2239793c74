import type { FleetIndex } from '../../facts/fleet-index.ts'
import { isSetNode } from '../../fleet/graph/open-resource-sets.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { isCopied } from '../../fleet/resource-sets/render-resource-set.ts'
import { originAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { type ComparedObject, compareObject } from './support/compare-object.ts'
import { comparedVersion } from './support/compared-version.ts'
import { isDecrypted } from './support/is-decrypted.ts'
import { mismatches } from './support/mismatches.ts'
import { refusedUpdates } from './support/refused-updates.ts'
import { updatedFrom } from './support/updated-from.ts'

/** The API server refuses the whole Kustomization where it refuses one object. */
export const schemaMismatch: Rule = {
  id: 'schema-mismatch',
  severity: 'medium',
  title: 'Object that the API server refuses',
  why: 'Flux applies the objects of a Kustomization together. For one unknown field, wrong type or missing field, the API server refuses the object. Flux then applies none of the others.',
  source: 'https://github.com/kubernetes/kubernetes/tree/master/api/openapi-spec',
  docs: 'Correct the field. A field that Flux drops before it applies the object is a warning; one at the top of the object, such as `datas` of a ConfigMap, is a violation. Kinds of Kubernetes itself are compared with the version that `kubernetes` of `.github/bailiwick.yaml` declares. Without it, they are compared with the version that objects of the platform set (the Plan of system-upgrade-controller for k3s or RKE2, KubernetesUpgrade of tuppr, the control planes of Cluster API, clusters of EKS, GKE and AKS). Without either, the newest version is assumed: what every version of the table refuses is a violation, other findings are warnings. In a built-in group, an API version or kind that no version of the table serves is a violation. So is one that a known version of the cluster does not serve. An API version that Kubernetes has deprecated is a warning that names the last version that serves it. Custom kinds are compared with the CustomResourceDefinition that the platform renders. Without one, they are compared with a catalog of well-known projects, which gives warnings: the cluster may run another release. An API version that the Flux of the cluster does not serve is a violation. So is one that no version of Flux 2 ever served. Where the version of Flux is not known, one that the newest does not serve is a warning. A field or word that the catalog does not know may be newer. It is reported only if a similar one exists. A change of a field that an update may not change (the selector of a Deployment, the template of a Job, `roleRef`) is found by comparing with the base; it is a warning where the version of the cluster is not known. No version lets `roleRef` change. With `force`, Flux recreates the object, and there is no finding. CEL rules of a CustomResourceDefinition (`x-kubernetes-validations`) are evaluated on the object with its defaults; those that read `oldSelf` where the base has the object. A rule that cannot be evaluated is a warning that says why. Other kinds and values that are unknown are not compared.',
  givesWay: true,
  kinds: 'every',
  *checkObject(subject, { config, index, before }) {
    const { object, node } = subject
    const version = comparedVersion(config, index, node.cluster)
    const definitions = (of: string) => index.definitionsOf(node.cluster, of)
    // sops-not-decrypted speaks of a Secret that nothing decrypts
    const isOpened = isDecrypted(node) || subject.kind === '/Secret'
    const old = before && updatedFrom(subject, before)
    const compared = compareObject(object, version, definitions, isOpened, old)
    for (const violation of mismatches(subject, withoutCopied(compared, node, object)))
      if (!isOfError(violation, index)) yield violation
    if (before) yield* refusedUpdates(subject, before, version.isCertain)
  },
}

/** The field is why a Kustomization cannot be evaluated, or why a patch does not match, which is an error already. */
function isOfError({ object, path, node }: Violation, index: FleetIndex): boolean {
  const error = index.nodeOf(node.cluster, object)?.error
  const { file, line } = originAt(object.root, path)
  const errors = [...(error?.code === 'flux-invalid' ? [error] : []), ...(node.holes ?? []).map(hole => hole.error)]
  return errors.some(({ origin }) => origin?.file === file && origin.line === line)
}

/** What is compared without the keys that are missing in `data` only because the Flux Operator copies them from another object. */
function withoutCopied(compared: ComparedObject, node: FleetNode, object: KubeObject): ComparedObject {
  if (!isSetNode(node) || !isCopied(object)) return compared
  const problems = compared.answer.problems.filter(({ kind, path }) => kind !== 'missing-field' || path[0] !== 'data')
  const count = compared.answer.count - (compared.answer.problems.length - problems.length)
  return { ...compared, answer: { ...compared.answer, problems, count } }
}
