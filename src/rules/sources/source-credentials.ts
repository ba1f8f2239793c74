import { asMessage, type Message, message, untyped } from '../../base/message.ts'
import { allowedSourcesOf, allowsSource } from '../../fleet/config/declared-settings.ts'
import { kindOf, type Naming, type Rendered } from '../../fleet/facts/object-table.ts'
import { namespacePart, quoted } from '../../fleet/facts/shown.ts'
import { addressOf, sourceKinds } from '../../fleet/facts/sources.ts'
import { type NameRead, secretsSentBy, sendingKinds } from '../../kube/capabilities/named-values.ts'
import { INPUT_PROVIDER } from '../../kube/flux-kinds.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { readAddress, type SourceAddress } from '../../kube/source-address.ts'
import type { Rule, RuleContext, Subject, TenantSubject, Violation } from '../model/rule.ts'
import { isOwnSecret, platformReaders, platformSecret } from '../secrets/platform-secrets.ts'

/** Fields that name a Secret whose content goes to the server. */
const SECRETS: readonly Path[] = [
  ['spec', 'secretRef', 'name'],
  ['spec', 'certSecretRef', 'name'],
]
const PASS = ['spec', 'passCredentials']
const PROVIDER = ['spec', 'provider']
const CLOUDS = new Set(['aws', 'azure', 'gcp', 'amazon', 'google'])
const TYPE = ['spec', 'type']
/** The types of an input provider that sign in to a cloud (flux-operator, resourcesetinputprovider_controller.go). */
const CLOUD_TYPES: readonly (readonly [type: RegExp, provider: string])[] = [
  [/^(?:AWS|ECR)/, 'aws'],
  [/^(?:Azure|ACR)/, 'azure'],
  [/^GAR/, 'gcp'],
]

/** The platform's credentials go only where the platform sends them. */
export const sourceCredentialExfil: Rule = {
  id: 'source-credential-exfil',
  severity: 'critical',
  title: "Platform credential in a tenant's source",
  why: "Flux sends the credentials of a source to the server that the source names. A source can use another source's Secret, forward credentials to other hosts, or sign in with the cluster's identity. It exposes them to the owner of that server.",
  source: 'CVE-2021-32690; fluxcd/flux2 RFC-0007 and RFC-0010',
  docs: 'Use a Secret of the tenant. The Secret of a platform source may be used for the same organization on the same host. Leave `spec.passCredentials` unset. `spec.provider: aws`, `azure` or `gcp` is allowed for addresses in `allowedSources`. It is also allowed for a registry that a platform source uses with the same provider.',
  kinds: sourceKinds,
  *checkTenantObject(subject, context) {
    const found = addressOf(subject.kind, subject.object)
    const address = typeof found?.address === 'string' ? undefined : found?.address
    yield* evaluateSecrets(subject, context, address)
    const pass = subject.at(PASS)
    if (pass?.type === 'scalar' && (pass.value === true || pass.value === 'true')) {
      const what = message`forwards its credentials to every host that the chart index names`
      yield { ...violation(subject, PASS, 'true', what, message`Remove spec.passCredentials.`), edit: { remove: true } }
    }
    const { path, provider } = signInOf(subject.kind, subject.object)
    if (provider?.toLowerCase() === 'github') yield* evaluateApp(subject, context, address)
    if (provider && CLOUDS.has(provider.toLowerCase()) && !isGranted(subject, context, provider, address)) {
      const what = message`signs in to ${quoted('repository', address?.text ?? '')} with the platform's cloud identity (${quoted('value', provider)})`
      yield violation(
        subject,
        path,
        `${provider} ${address?.text ?? ''}`,
        what,
        'Set spec.secretRef, or set the address to one that the platform allows.',
      )
    }
  },
}

/** By which field a source signs in, and with which provider; an Azure DevOps input provider with a Secret uses that. */
function signInOf(kind: string, { root }: KubeObject): { readonly path: Path; readonly provider: string | undefined } {
  if (kind !== INPUT_PROVIDER) return { path: PROVIDER, provider: stringAt(root, PROVIDER) }
  const type = stringAt(root, TYPE) ?? ''
  const hasSecret = type.startsWith('AzureDevOps') && at(root, ['spec', 'secretRef']) !== undefined
  const provider = hasSecret ? undefined : CLOUD_TYPES.find(([pattern]) => pattern.test(type))?.[1]
  return { path: TYPE, provider }
}

/** The key of a GitHub App is the platform's, unless the tenant brings one. */
function* evaluateApp(subject: Subject, context: RuleContext, address: SourceAddress | undefined): Iterable<Violation> {
  const secret = subject.text(SECRETS[0]!) ?? ''
  if (secret !== '' && isOwnSecret(context.index, subject.node, subject.id.namespace, secret)) return
  if (isGranted(subject, context, 'github', address)) return
  const what = message`signs in to ${quoted('repository', address?.text ?? '')} as a GitHub App whose key the tenant does not render`
  yield violation(
    subject,
    PROVIDER,
    `github ${address?.text ?? ''}`,
    what,
    'Set spec.secretRef to a Secret of the tenant.',
  )
}

/** A Secret of the platform's sources, sent to a server that no such source names. */
function* evaluateSecrets(
  subject: Subject,
  context: RuleContext,
  address: SourceAddress | undefined,
): Iterable<Violation> {
  // platform-secret-sent reports more of what these kinds send
  if (!address || sendingKinds.includes(subject.kind)) return
  for (const path of SECRETS) {
    const name = subject.text(path)
    if (!name) continue
    const places = platformSources(subject, context)
      .filter(one => SECRETS.some(other => stringAt(one.object.root, other) === name))
      .flatMap(one => placeOf(addressIn(one)) ?? [])
    if (places.length === 0 || places.includes(placeOf(address)!)) continue
    const what = message`sends the credentials of Secret ${quoted('object', name)}, which is the platform's for ${quoted('value', places[0]!)}, to ${quoted('repository', address.text)}`
    yield violation(
      subject,
      path,
      `${name} ${address.text}`,
      what,
      message`Set spec.secretRef to a Secret of the tenant in ${namespacePart(subject.id.namespace)}.`,
    )
  }
}

function platformSources({ id, node }: Subject, { index }: RuleContext): Rendered[] {
  return sourceKinds.flatMap(kind => index.platformRendered(node.cluster, kind, id.namespace))
}

function isGranted(
  subject: Subject,
  context: RuleContext,
  provider: string,
  address: SourceAddress | undefined,
): boolean {
  const { kind, node } = subject
  const { config, index } = context
  if (!address) return false
  const tenant = node.tenant ?? ''
  if (allowedSourcesOf(config, tenant).length > 0 && allowsSource(config, tenant, address.text)) return true
  return index.foundAnywhere(node.cluster, kind, SIGNS_IN, `${provider} ${hostText(address)}`).length > 0
}

/** The providers and hosts that sources of the platform sign in with. */
const SIGNS_IN: Naming = {
  id: 'platform signs in',
  of: one => {
    const provider = one.node.tenant === undefined ? signInOf(kindOf(one.object), one.object).provider : undefined
    const its = provider === undefined ? undefined : addressIn(one)
    return its ? [`${provider} ${hostText(its)}`] : []
  },
}

function addressIn({ object }: Rendered): SourceAddress | undefined {
  const found = addressOf(kindOf(object), object)?.address
  return typeof found === 'object' ? found : undefined
}

/** An organisation of a host: what a credential is for. */
function placeOf(address: SourceAddress | undefined): string | undefined {
  return address && `${hostText(address)}/${address.parts[0] ?? ''}`
}

const hostText = ({ host, port }: SourceAddress) => `${host}${port && `:${port}`}`

function violation(subject: Subject, path: Path, value: string, what: Message, fix: string | Message): Violation {
  const problem = message`${subject.who} ${what}. Allowed: the tenant's own credentials. Flux accepts it.`
  return subject.violation(path, value, { message: problem, fix: asMessage(fix) })
}

const BETWEEN = ['proxy', 'proxySecretRef', 'certSecretRef']
const PUSH = 'external-secrets.io/PushSecret'
const SELECTOR = ['spec', 'selector', 'secret', 'selector']
/** Where an object of the platform states to whom it sends a Secret. */
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
    for (const read of reads) yield* sentElsewhere(subject, context, read, address)
    if (subject.kind === PUSH && subject.at(SELECTOR)) yield* selected(subject)
  },
}

function* sentElsewhere(
  subject: TenantSubject,
  { index }: RuleContext,
  { path, name }: NameRead,
  address: Path | undefined,
): Iterable<Violation> {
  const { object, id, node } = subject
  const written = address && subject.at(address)
  // then the Secret contains the address, which its author chooses
  if (address && !written) return
  const found = platformSecret(index, node, id.namespace, name)
  if (!found) return
  const target = address ? placeAt(object.root, address) : undefined
  const isTarget = ({ object: reader }: Rendered) => ADDRESSES.some(other => placeAt(reader.root, other) === target)
  const readers = platformReaders(index, node.cluster, id.namespace, 'Secret', name)
  if (target !== undefined && !isBetween(object.root) && readers.some(isTarget)) return
  const to = address ? message` to ${quoted('repository', subject.text(address) ?? 'an unknown address')}` : ''
  yield subject.violation(path, `${name} ${target ?? ''}`, {
    message: message`${subject.who} sends Secret ${quoted('object', name)}${to}. ${found.isGuess ? 'The Secret is not visible' : 'The Secret belongs to the platform'}: ${untyped(found.why)}. Allowed: the tenant's own Secrets. The object's controller accepts it.`,
    fix: message`Set the reference to a Secret of the tenant in ${namespacePart(id.namespace)}${found.isGuess ? ', and render it' : ''}.`,
    ...(found.isGuess ? { level: 'warning' as const, severity: 'medium' as const } : {}),
  })
}

/** A proxy, or a certificate authority, of the sender's own stands between it and the address, and reads what is sent. */
function isBetween(root: TenantSubject['object']['root']): boolean {
  return BETWEEN.some(field => at(root, ['spec', field]) !== undefined)
}

/** An organization of a host: what a credential is for. */
function placeAt(root: TenantSubject['object']['root'], path: Path): string | undefined {
  const address = readAddress(stringAt(root, path) ?? '', 'url')
  return typeof address === 'string' ? undefined : sentTo(address)
}

const sentTo = ({ host, port, parts }: SourceAddress) => `${host}:${port}/${parts[0] ?? ''}`

/** Anyone can write labels of Secrets, so they may select the platform's. */
function* selected(subject: TenantSubject): Iterable<Violation> {
  yield subject.violation(SELECTOR, 'selector', {
    level: 'warning',
    message: message`${subject.who} sends every Secret of ${namespacePart(subject.id.namespace)} that its labels select, including the platform's. Allowed: Secrets by name.`,
    fix: message`Set spec.selector.secret.name to the tenant's own Secret.`,
  })
}
