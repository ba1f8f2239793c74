import { message } from '../../base/message.ts'
import { type FleetIndex, namespaceLabels } from '../../fleet/facts/fleet-index.ts'
import { namespacePart, objectPart, quoted } from '../../fleet/facts/shown.ts'
import {
  ACCESS_FROM,
  admits,
  type Reference,
  readSourceAcl,
  references,
  referringKinds,
} from '../../flux/references.ts'
import { FLUX_KINDS } from '../../kube/flux-kinds.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Rule, RuleContext, Subject, Violation } from '../model/rule.ts'
import { isOwnSecret } from '../secrets/platform-secrets.ts'

const GROUPS: ReadonlyMap<string, string> = new Map(
  FLUX_KINDS.filter(row => row.shared).map(({ kind, group }) => [kind, group]),
)

/** The kinds that may have an access list, as `<group>/<Kind>`. */
const sharedKinds: readonly string[] = [...GROUPS].map(([kind, group]) => `${group}/${kind}`)

/** A source's owner decides which namespaces may use it. */
export const sourceAcl: Rule = {
  id: 'source-acl',
  severity: 'high',
  title: 'Source that another namespace may not use',
  why: 'A source carries credentials: an object that refers to it deploys or pushes with them. A namespace selector with labels admits every namespace that can set these labels. A selector without labels admits all namespaces.',
  source: 'RFC-0002 (fluxcd/flux2#2092); CVE-2025-55205 for labels',
  docs: `Open a source with \`spec.accessFrom.namespaceSelectors\` (\`matchLabels\` only). Flux enforces the list of an ImageRepository only. The lists of other sources are provisional in Flux, and only the gate enforces them: where the kind does not have the field, write the same YAML into the annotation \`${ACCESS_FROM}\`. Without a list, only its own namespace may use the source. \`matchLabels: {}\` admits all namespaces, and an empty list none. Only labels that the platform writes and \`kubernetes.io/metadata.name\` count. With --no-cross-namespace-refs, Flux rejects every cross-namespace reference (\`cross-namespace-ref\`).`,
  kinds: [...new Set([...referringKinds, ...sharedKinds])],
  *checkTenantObject(subject, context) {
    yield* evaluateReferences(subject, context, subject.node.tenant)
    if (sharedKinds.includes(subject.kind)) yield* evaluateList(subject, context)
  },
}

function* evaluateReferences(subject: Subject, { index }: RuleContext, tenant: string): Iterable<Violation> {
  const { object, id, node } = subject
  for (const reference of references(object)) {
    const { namespace, path, kind, name } = reference
    if (namespace === null || namespace === id.namespace || index.owns(node.cluster, tenant, namespace)) continue
    const access = accessOf(index, node.cluster, id.namespace, reference)
    if (access !== 'closed' && access !== 'unreadable') continue
    const why =
      access === 'closed'
        ? 'whose access control list does not admit'
        : 'whose invalid access control list does not admit'
    const what = objectPart(kind, namespace, name)
    yield subject.asNode(index).violation(path, `${kind}/${namespace}/${name}`, {
      message: message`${subject.who} refers to ${what}, ${why} ${namespacePart(id.namespace)}. Allowed: sources that admit this namespace by labels that the platform writes.`,
      fix: message`Ask the owner of ${what} to admit the namespace, or declare a separate source.`,
    })
  }
}

/** An access list that a tenant writes for its own source. */
function* evaluateList(subject: Subject, { index }: RuleContext): Iterable<Violation> {
  const { object, id, node, who } = subject
  const acl = readSourceAcl(object)
  if (acl === undefined) return
  const inField = object.root.fields.get('spec')?.value
  const hasField = inField?.type === 'map' && inField.fields.has('accessFrom')
  const path = hasField ? ['spec', 'accessFrom'] : ['metadata', 'annotations', ACCESS_FROM]
  if (acl === 'unreadable') {
    const problem = message`${who} has an invalid access control list, so it admits no namespace. Allowed: namespaceSelectors, a list of maps with matchLabels.`
    const fix = message`Rewrite the list as namespaceSelectors with only matchLabels.`
    yield subject.violation(path, 'unreadable', { message: problem, fix, level: 'warning' })
    return
  }
  if (!acl.some(selector => selector.size === 0)) return
  const secret = subject.text(['spec', 'secretRef', 'name'])
  const isForeign = secret !== undefined && !isOwnSecret(index, node, id.namespace, secret)
  const whose = isForeign
    ? message`. It uses the credentials of Secret ${quoted('object', secret)}, which is not the tenant's own`
    : ''
  yield subject.violation(path, 'everybody', {
    message: message`${who} admits every namespace of the cluster${whose}. Allowed: namespaces selected by labels.`,
    fix: message`Set matchLabels to labels that the platform writes, or to kubernetes.io/metadata.name.`,
    ...(isForeign ? {} : { level: 'warning' }),
  })
}

/** The answer of a source's access list to a namespace; `none`: there is no list, or no such source. */
export type AccessFrom = 'open' | 'closed' | 'unreadable' | 'none'

/** Whether namespace `from` has a source of the same kind and name, so that the reference works without a namespace too. */
export function hasNamesake(index: FleetIndex, cluster: string, from: string, { kind, name }: Reference): boolean {
  const group = GROUPS.get(kind)
  return group !== undefined && name !== '' && index.versionsOf(cluster, `${group}/${kind}`, from, name).length > 0
}

/**
 * Whether the source's access list admits the namespace `from` (RFC-0002). The source's owner decides, so it is read as
 * the platform or its namespace's tenant renders it; only labels that the platform writes count: a tenant could label
 * itself in.
 */
export function accessOf(index: FleetIndex, cluster: string, from: string, reference: Reference): AccessFrom {
  const group = GROUPS.get(reference.kind)
  const { namespace, name } = reference
  if (!group || namespace === null || name === '') return 'none'
  const source = ownersVersion(index, cluster, `${group}/${reference.kind}`, namespace, name)
  const acl = source && readSourceAcl(source)
  if (!acl) return 'none'
  if (acl === 'unreadable') return acl
  return admits(acl, namespaceLabels(index, cluster, from)) ? 'open' : 'closed'
}

function ownersVersion(
  index: FleetIndex,
  cluster: string,
  kind: string,
  namespace: string,
  name: string,
): KubeObject | undefined {
  const platforms = index.platformObject(cluster, kind, namespace, name)
  if (platforms) return platforms
  const versions = index.versionsOf(cluster, kind, namespace, name)
  return versions.findLast(({ node }) => node.tenant !== undefined && index.owns(cluster, node.tenant, namespace))
    ?.object
}
