import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { codeWord, message, untyped } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'
import { addressFault, type KubeConfigFault, kubeConfigFaults } from './support/kubeconfig-faults.ts'

/** What a tenant writes as a kubeconfig runs nothing and calls nothing inside. */
export const kubeconfigContent: Rule = {
  id: 'kubeconfig-content',
  severity: 'critical',
  title: 'Unsafe kubeconfig',
  why: "A program that reads a kubeconfig runs the command in `exec`. It opens the files that it names, and sends its token to `server`. In a Flux controller this happens in the controller's container, with the controller's token and network (CVE-2022-24817). Flux drops some of these fields unless a flag allows them. Other readers do not.",
  source: 'CVE-2022-24817; fluxcd/pkg runtime/client',
  docs: 'Ask a fleet admin to render the kubeconfig, or to list the Secret in `allowedKubeConfigs` in .github/bailiwick.yaml. A listed kubeconfig may set `server` (https, a public or private address), `certificate-authority-data`, and `token` or `client-certificate-data` with `client-key-data`, encrypted with SOPS.',
  kinds: ['/Secret', '/ConfigMap'],
  *checkTenantObject(subject, { index, config }) {
    const { node, object, id } = subject
    for (const { path, fault } of faultsOf(index, subject, config.allowedKubeConfigs.includes(id.name))) {
      const where = fault.field === '' ? message`` : message` (${quoted('field', fault.field)})`
      yield {
        node,
        object,
        path,
        // Never the text itself: beside the fault it may hold a token.
        value: `${fault.field} ${fault.what}`,
        message: message`${objectPart(id.kind, id.namespace, id.name)} contains a kubeconfig that ${untyped(fault.what)}${where}. Allowed: credentials, and API server addresses in Secrets that "allowedKubeConfigs" in ${codeWord('.github/bailiwick.yaml')} lists.`,
        fix: message`Ask a fleet admin to render the kubeconfig. In a kubeconfig that the fleet allows, use inline certificates or a token and the address of the API server.`,
        ...(fault.local ? {} : { severity: 'high' as const }),
      }
    }
  },
}

interface Found {
  readonly path: Path
  readonly fault: KubeConfigFault
}

function* faultsOf(index: FleetIndex, { node, object, id, kind }: Subject, isAllowed: boolean): Iterable<Found> {
  const used = index.kubeConfigUse(node.cluster, id.namespace, id.kind, id.name) !== undefined
  for (const { path, text } of textsOf(object)) {
    if (path.at(-1) === 'address' && (used || stringAt(object.root, ['data', 'provider']))) {
      const what = kind === '/ConfigMap' ? addressFault(text) : undefined
      if (what) yield { path, fault: { field: 'address', what, local: false } }
    }
    const isRead = used && kind === '/Secret' && !/^ENC\[/.test(text)
    for (const fault of kubeConfigFaults(text, isRead, isAllowed || kind !== '/Secret')) yield { path, fault }
  }
}

function* textsOf(object: KubeObject): Iterable<{ path: Path; text: string }> {
  const isSecret = stringAt(object.root, ['kind']) === 'Secret'
  for (const part of ['data', 'stringData', 'binaryData']) {
    const values = at(object.root, [part])
    if (values?.type !== 'map') continue
    const encoded = part === 'binaryData' || (part === 'data' && isSecret)
    for (const [key, { value }] of values.fields) {
      const text = decoded(value, encoded)
      if (text !== undefined) yield { path: [part, key], text }
    }
  }
}

function decoded(value: Node, encoded: boolean): string | undefined {
  if (value.type !== 'scalar' || typeof value.value !== 'string') return undefined
  if (!encoded || value.value.startsWith('ENC[')) return value.value
  return Buffer.from(value.value, 'base64').toString('utf8')
}
