import { addressOf } from '../../../facts/source-fields.ts'
import type { Subject } from '../../../facts/subject.ts'
import { PROVIDER } from '../../../flux/kinds.ts'
import type { Path } from '../../../kube/node.ts'
import { at, stringAt } from '../../../kube/node.ts'
import type { RuleContext } from '../../model/rule.ts'
import { secretValue } from './named-secret.ts'

/** An address that a controller of Flux connects to for an object. */
export interface Endpoint {
  readonly path: Path
  /** `sealed`: it is encrypted. */
  readonly address: { readonly text: string } | 'sealed'
  /** It is clear that it begins with a host. */
  readonly isHost?: true
  /** The Secret that holds it: then the rest of it is not for everybody's eyes. */
  readonly secret?: string
}

/** Kinds of Flagger, whose controller connects to what they name (fluxcd/flagger, artifacts/flagger/crd.yaml). */
export const FLAGGER_KINDS: readonly string[] = ['Canary', 'MetricTemplate', 'AlertProvider'].map(
  kind => `flagger.app/${kind}`,
)
const FLAGGER_FIELDS: readonly Path[] = [
  ['spec', 'address'],
  ['spec', 'proxy'],
  ['spec', 'provider', 'address'],
]

const SOURCES_WITH_SECRETS: readonly Path[] = [['spec', 'proxySecretRef', 'name']]

/** Every address that an object names, also those in Secrets that the tenant renders (notification-controller, event_handlers.go). */
export function endpointsOf(subject: Subject, context: RuleContext): Endpoint[] {
  const { object, kind } = subject
  if (FLAGGER_KINDS.includes(kind)) return ofFlagger(subject, context)
  const isProvider = kind === PROVIDER
  const plain: Path[] = isProvider
    ? [
        ['spec', 'address'],
        ['spec', 'proxy'],
      ]
    : [['spec', 'sts', 'endpoint']]
  const written = plain.flatMap((path): Endpoint[] => {
    const text = stringAt(object.root, path)
    return text ? [{ path, address: { text } }] : []
  })
  const found = isProvider ? undefined : addressOf(kind, object)
  if (found && typeof found.address !== 'string') {
    written.push({ path: found.path, address: { text: found.address.text }, isHost: true })
  } else if (found?.written) written.push({ path: found.path, address: { text: found.written } })
  const secrets = isProvider ? [['spec', 'secretRef', 'name'], ...SOURCES_WITH_SECRETS] : SOURCES_WITH_SECRETS
  return [...written, ...secrets.flatMap(path => inSecret(subject, context, path))]
}

function ofFlagger(subject: Subject, context: RuleContext): Endpoint[] {
  const { object, kind } = subject
  const webhooks = ['analysis', 'canaryAnalysis'].flatMap(field => {
    const list = at(object.root, ['spec', field, 'webhooks'])
    return list?.type === 'list' ? list.items.map((_, index) => ['spec', field, 'webhooks', index, 'url']) : []
  })
  const written = [...FLAGGER_FIELDS, ...webhooks].flatMap((path): Endpoint[] => {
    const text = stringAt(object.root, path)
    return text ? [{ path, address: { text }, isHost: true }] : []
  })
  const isProvider = kind === 'flagger.app/AlertProvider'
  return isProvider ? [...written, ...inSecret(subject, context, ['spec', 'secretRef', 'name'])] : written
}

function inSecret({ object, id, node }: Subject, { index }: RuleContext, path: Path): Endpoint[] {
  const name = stringAt(object.root, path)
  if (!name) return []
  return ['address', 'proxy'].flatMap(key => {
    const address = secretValue(index, node, id.namespace, name, key)
    return address ? [{ path, address, secret: name }] : []
  })
}

/** The host of an address as a client would take it, and whether it is clear that it is one. */
export function hostOf(text: string): { readonly host: string; readonly isUrl: boolean } | undefined {
  const url = /:\/\/([^/?#\\]*)/.exec(text)
  const authority = (url?.[1] ?? text.split(/[/?#\\]/, 1)[0]!).replace(/^.*@/, '')
  const host = /^(\[[^\]]*\]|[^:]*)/.exec(authority.trim())?.[1] ?? ''
  return host === '' ? undefined : { host: decoded(host), isUrl: url !== null }
}

function decoded(host: string): string {
  return host.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
