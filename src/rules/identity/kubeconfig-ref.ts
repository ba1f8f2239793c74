import type { KubeConfigRef } from '../../facts/kubeconfig-uses.ts'
import { kubeConfigRefs } from '../../facts/kubeconfig-uses.ts'
import { namespacePart, objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { applierKinds, kubeConfigOf } from '../../fleet/model/appliers.ts'
import { codeWord, listed, type Message, message, part } from '../../message/message.ts'
import type { Rule, RuleContext } from '../model/rule.ts'
import { proxyKubeConfig } from './support/proxy-kubeconfig.ts'

/** The key under which Capsule's addon and Flux's own tools for it keep the kubeconfig. */
const CAPSULE_KEYS = ['', 'kubeconfig']

/** A tenant acts on other clusters, or by other credentials, only with a kubeconfig that the platform gave. */
export const kubeconfigRef: Rule = {
  id: 'kubeconfig-ref',
  severity: 'critical',
  title: 'Kubeconfig that the platform did not provide',
  why: 'Flux acts with the credentials of the named kubeconfig, on its cluster. The admin kubeconfig that Cluster API keeps in a namespace is cluster-admin there. A ConfigMap makes Flux sign in to a cloud with its own identity.',
  source:
    'RFC-0001 and RFC-0010 of fluxcd/flux2; https://fluxcd.io/flux/components/kustomize/kustomizations/#kubeconfig-remote-clusters',
  docs: "Remove `spec.kubeConfig`, or name a Secret that the platform's Kustomization for this tenant names (Capsule: `<account>-kubeconfig`) or that `allowedKubeConfigs` lists. The platform's own objects may name any Secret. What acts for a Capsule Tenant keeps the kubeconfig of Capsule's proxy. The fleet, the worker or capsule-addon-fluxcd creates its Secret. Required approvals: a new kubeconfig, another or removed kubeconfig of an object, another account with it, and a change of the Secret, ConfigMap or ExternalSecret that holds it. The target of a kubeconfig is not in git.",
  kinds: applierKinds,
  *checkObject(subject, context) {
    const { node, object, id } = subject
    yield* proxyKubeConfig(subject, context)
    for (const ref of node.tenant === undefined ? [] : refsOf(subject)) {
      if (isAllowed(context, subject, ref)) continue
      const { kind, name, key, path } = ref
      const of = key === '' ? message`` : message` (key ${quoted('value', key)})`
      const what = kind
        ? message`${part('value', kind)} ${quoted('object', name)}${of}`
        : message`neither a Secret nor a ConfigMap`
      yield {
        node: context.index.nodeOf(node.cluster, object) ?? node,
        renderedBy: node,
        object,
        path,
        value: `${kind} ${name} ${key}`,
        message: message`${objectPart(id.kind, id.namespace, id.name)} uses the kubeconfig in ${what} of ${namespacePart(id.namespace)}, which the platform did not provide to this tenant. Allowed: ${allowedText(context, subject)}.`,
        fix: message`Remove ${codeWord('spec.kubeConfig')}, or set ${codeWord('spec.kubeConfig.secretRef.name')} to the tenant's kubeconfig.`,
      }
    }
  },
}

function refsOf({ object }: Subject): KubeConfigRef[] {
  const config = kubeConfigOf(object)
  return config ? kubeConfigRefs(config) : []
}

function isAllowed({ index, config }: RuleContext, { node }: Subject, { kind, name, key }: KubeConfigRef): boolean {
  if (kind === 'Secret' && config.allowedKubeConfigs.includes(name)) return true
  if (kind === '') return false
  return index.namespacesOf(node.cluster, node.tenant ?? '').some(namespace => {
    const use = index.kubeConfigUse(node.cluster, namespace, kind, name)
    if (use?.by === 'platform' && use.keys.has(key)) return true
    const isOfCapsule = kind === 'Secret' && CAPSULE_KEYS.includes(key)
    return isOfCapsule && index.proxyKubeConfigs(node.cluster, namespace).includes(name)
  })
}

function allowedText({ index, config }: RuleContext, { node }: Subject): Message {
  const namespaces = index.namespacesOf(node.cluster, node.tenant ?? '')
  const ofCapsule = namespaces.flatMap(namespace => index.proxyKubeConfigs(node.cluster, namespace))
  const names = [...config.allowedKubeConfigs, ...ofCapsule]
  return names.length === 0 ? message`none` : listed(names.slice(0, 10).map(name => quoted('object', name)))
}
