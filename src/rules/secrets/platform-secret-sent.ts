import { namespacePart, objectPart, quoted } from '../../facts/shown.ts'
import type { TenantSubject } from '../../facts/subject.ts'
import { readAddress, type SourceAddress } from '../../kube/address/source-address.ts'
import { type NameRead, secretsSentBy, sendingKinds } from '../../kube/capabilities/secret-names.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { message, untyped } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { platformSecret } from '../references/support/platform-secret.ts'
import { platformReaders } from '../references/support/secret-readers.ts'

const BETWEEN = ['proxy', 'proxySecretRef', 'certSecretRef']
const PUSH = 'external-secrets.io/PushSecret'
const SELECTOR = ['spec', 'selector', 'secret', 'selector']
/** Where an object of the platform says to whom a Secret goes. */
const ADDRESSES: readonly Path[] = [
  ['spec', 'url'],
  ['spec', 'address'],
]

/** What the platform's objects read is not sent elsewhere by a tenant's. */
export const platformSecretSent: Rule = {
  id: 'platform-secret-sent',
  severity: 'critical',
  title: 'Platform credential sent to another address',
  why: 'A Provider sends the token of its Secret to its address. A PushSecret writes a Secret to a store. A monitor sends a Secret to its target. A tenant that names a Secret of the platform in one of these objects receives its content.',
  source:
    'notification-controller docs/spec/v1beta3/providers.md; external-secrets docs, PushSecret; Prometheus Operator API',
  docs: "Name a Secret of the tenant. A Secret is the platform's if the platform, Capsule or the worker writes it, or the platform reads it. A Secret that is not visible and named like the token of an account of Flux is a warning. The Secret of a platform source or Provider may be used for the same organization on the same host. For sources, see `source-credential-exfil`.",
  kinds: sendingKinds,
  *checkTenantObject(subject, context) {
    const { reads, address } = secretsSentBy(subject.object)
    for (const read of reads) {
      const violation = evaluateFleet(subject, context, read, address)
      if (violation) yield violation
    }
    if (subject.kind === PUSH && at(subject.object.root, SELECTOR)) yield* selected(subject)
  },
}

function evaluateFleet(
  subject: TenantSubject,
  { index }: RuleContext,
  { path, name }: NameRead,
  address: Path | undefined,
): Violation | undefined {
  const { object, id, node } = subject
  const written = address && at(object.root, address)
  // the address stands in the Secret then, as whoever wrote it wants
  if (address && !written) return undefined
  const found = platformSecret(index, node, id.namespace, name)
  if (!found) return undefined
  const target = address ? placeAt(object.root, address) : undefined
  if (
    target !== undefined &&
    !isBetween(object.root) &&
    platformReaders(index, node.cluster, id.namespace, 'Secret', name).some(one =>
      ADDRESSES.some(other => placeAt(one.object.root, other) === target),
    )
  ) {
    return undefined
  }
  const to = address ? message` to ${quoted('repository', stringAt(object.root, address) ?? 'an unknown address')}` : ''
  return {
    node,
    object,
    path,
    value: `${name} ${target ?? ''}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)} sends Secret ${quoted('object', name)}${to}. ${found.isGuess ? 'The Secret is not visible' : 'The Secret belongs to the platform'}: ${untyped(found.why)}. Allowed: the tenant's own Secrets. The object's controller accepts it.`,
    fix: message`Set the reference to a Secret of the tenant in ${namespacePart(id.namespace)}${found.isGuess ? ', and render it' : ''}.`,
    ...(found.isGuess ? { level: 'warning' as const, severity: 'medium' as const } : {}),
  }
}

/** A proxy, or a certificate authority, of the sender's own stands between it and the address, and reads what is sent. */
function isBetween(root: TenantSubject['object']['root']): boolean {
  return BETWEEN.some(field => at(root, ['spec', field]) !== undefined)
}

/** An organization of a host: what a credential is for. */
function placeAt(root: TenantSubject['object']['root'], path: Path): string | undefined {
  const address = readAddress(stringAt(root, path) ?? '', 'url')
  return typeof address === 'string' ? undefined : placeOf(address)
}

const placeOf = ({ host, port, parts }: SourceAddress) => `${host}:${port}/${parts[0] ?? ''}`

/** Labels of Secrets are written by anybody, and those of the platform's among them. */
function* selected({ object, id, node }: TenantSubject): Iterable<Violation> {
  yield {
    node,
    object,
    path: SELECTOR,
    value: 'selector',
    level: 'warning',
    message: message`${objectPart(id.kind, id.namespace, id.name)} sends every Secret of ${namespacePart(id.namespace)} that its labels select, including the platform's. Allowed: Secrets by name.`,
    fix: message`Set spec.selector.secret.name to the tenant's own Secret.`,
  }
}
