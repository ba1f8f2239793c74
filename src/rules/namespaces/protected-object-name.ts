import { objectPart } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at } from '../../kube/node.ts'
import { message, part, untyped } from '../../message/message.ts'
import type { Rule, RuleContext } from '../model/rule.ts'
import { platformReaders, readerName } from '../references/support/secret-readers.ts'

/** Objects that the platform or Kubernetes puts into namespaces, by kind. */
const KNOWN: ReadonlyMap<string, readonly string[]> = new Map([
  [
    '/ConfigMap',
    [
      'flux-runtime-info',
      'kube-root-ca.crt',
      'openshift-service-ca.crt',
      'istio-ca-root-cert',
      'linkerd-identity-trust-roots',
    ],
  ],
  ['/Secret', []],
])

/** Values and credentials that the platform's objects read are not for tenants to write. */
export const protectedObjectName: Rule = {
  id: 'protected-object-name',
  severity: 'high',
  title: 'Name of a platform object',
  why: "The platform's Kustomization, source or release reads a ConfigMap or Secret of this name here. A tenant that writes it supplies variables, credentials or a cluster to the platform.",
  source: 'd1-fleet: flux-runtime-info',
  docs: "Rename the object. Only the platform writes objects that the platform reads in the tenant's namespace. An object that a controller creates for a tenant's ExternalSecret, SealedSecret or Certificate counts as the tenant's.",
  kinds: [...KNOWN.keys()],
  *checkTenantObject(subject, context) {
    const { object, id, kind, node } = subject
    if (!context.index.owns(node.cluster, node.tenant, id.namespace)) return
    const reader = KNOWN.get(kind)!.includes(id.name) ? 'the platform or Kubernetes' : readBy(subject, context)
    if (reader === undefined) return
    yield {
      node,
      object,
      path: ['metadata', 'name'],
      value: id.name,
      message: message`${objectPart(id.kind, id.namespace, id.name)} has the name of an object that ${untyped(reader)} reads or writes in this namespace, and would replace it. Allowed: another name. Flux and the API server accept it.`,
      fix: message`Rename the ${part('object', id.kind)}.`,
    }
  },
}

function readBy({ id, node, object }: Subject, { index, config }: RuleContext): string | undefined {
  const declared = config.substituteFrom.some(
    one =>
      one.kind === id.kind &&
      one.name === id.name &&
      one.namespace === id.namespace &&
      (one.cluster ?? node.cluster) === node.cluster,
  )
  // a kubeconfig whose content is here is for the rule kubeconfig-content
  const isSeen = ['data', 'stringData'].some(field => at(object.root, [field]) !== undefined)
  const isKubeConfig = id.kind === 'Secret' && !isSeen && config.allowedKubeConfigs.includes(id.name)
  if (declared || isKubeConfig) return "the fleet's file"
  const [reader] = platformReaders(
    index,
    node.cluster,
    id.namespace,
    id.kind === 'Secret' ? 'Secret' : 'ConfigMap',
    id.name,
  )
  if (reader) return `the platform's ${readerName(reader)}`
  const isProxys = id.kind === 'Secret' && index.proxyKubeConfigs(node.cluster, id.namespace).includes(id.name)
  return isProxys ? 'the platform' : undefined
}
