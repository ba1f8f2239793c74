import { stringAt } from '../node.ts'
import { groupOf, idOf, type KubeObject } from '../object.ts'

/** Plurals of custom kinds by `<group>/<Kind>`. */
export type CustomPlurals = ReadonlyMap<string, string>

/** The plurals that CustomResourceDefinitions among `objects` declare. */
export function customPlurals(objects: Iterable<KubeObject>): CustomPlurals {
  const plurals = new Map<string, string>()
  for (const object of objects) {
    const { apiVersion, kind } = idOf(object)
    if (kind !== 'CustomResourceDefinition' || groupOf(apiVersion) !== 'apiextensions.k8s.io') continue
    const plural = stringAt(object.root, ['spec', 'names', 'plural'])
    const key = `${stringAt(object.root, ['spec', 'group'])}/${stringAt(object.root, ['spec', 'names', 'kind'])}`
    if (plural) plurals.set(key, plural)
  }
  return plurals
}

/** Kinds whose resource does not follow from their name. */
const ODD = new Map([
  ['/Endpoints', 'endpoints'],
  ['argoproj.io/EventBus', 'eventbus'],
  ['k8s.cni.cncf.io/NetworkAttachmentDefinition', 'network-attachment-definitions'],
  ['expansion.gatekeeper.sh/ExpansionTemplate', 'expansiontemplate'],
  ['mutations.gatekeeper.sh/Assign', 'assign'],
  ['mutations.gatekeeper.sh/AssignImage', 'assignimage'],
  ['mutations.gatekeeper.sh/AssignMetadata', 'assignmetadata'],
  ['mutations.gatekeeper.sh/ModifySet', 'modifyset'],
  ['operator.victoriametrics.com/VLDistributed', 'vldistributed'],
  ['operator.victoriametrics.com/VLogs', 'vlogs'],
  ['operator.victoriametrics.com/VMDistributed', 'vmdistributed'],
  ['secrets.hashicorp.com/CSISecrets', 'csisecrets'],
  ['security.openshift.io/SecurityContextConstraints', 'securitycontextconstraints'],
])

/**
 * The resource of a kind, as rules and URLs name it: what the fleet's own definition says, else the English plural, which is
 * right for every kind of Kubernetes itself (a test asks a real API server) and of the projects that src/kube/scope/scope.ts knows.
 */
export function resourceOf(apiVersion: string, kind: string, custom: CustomPlurals): string {
  const key = `${groupOf(apiVersion)}/${kind}`
  return custom.get(key) ?? ODD.get(key) ?? plural(kind.toLowerCase())
}

function plural(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return /(?:s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`
}
