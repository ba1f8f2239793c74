import type { Rendered } from '../facts/object-table.ts'
import { shown } from '../facts/shown.ts'
import { BUCKET, kindsThat } from '../flux/kinds.ts'
import { at, isTrue, originAt, stringAt } from '../kube/node.ts'
import { normaliseUrl } from '../kube/url.ts'
import { type AuditItem, place } from './audit-item.ts'
import { type AuditedCluster, unseenPart } from './audited-cluster.ts'
import { fewNames } from './few-names.ts'

const KINDS = kindsThat(row => row.source && row.address)
const SAFE = new Set(['https', 'ssh', 'oci'])

/** Finds remote bases, which are downloaded while a kustomization is built. */
export function* remoteBaseItems(audited: AuditedCluster): Iterable<AuditItem> {
  const common = {
    check: 'remote-bases',
    why: 'a remote base is downloaded during the build without a review, and can change at any time',
    fix: 'Copy the base into the repository, or declare a source for it.',
  }
  const found = audited.nodes.filter(({ error }) => error?.rule === 'kustomize-remote-base')
  for (const { namespace, name, error } of found) {
    const message = `Kustomization ${shown(`${namespace}/${name}`)} loads a remote base: ${shown(error?.message ?? '')}`
    const origin = error?.origin
    yield {
      ...common,
      subject: `${namespace}/${name}`,
      state: 'weak',
      message,
      ...(origin ? { origin: place(origin) } : {}),
    }
  }
  if (found.length > 0) return
  const unseen = unseenPart(audited, () => true)
  const message = `no kustomization loads a remote base${unseen ? `, as far as the fleet is visible; ${unseen}` : ''}`
  yield { ...common, subject: '', state: unseen ? 'unknown' : 'ok', message, fix: '' }
}

/** Lists each host and organization that the cluster deploys from, with its protocol. */
export function sourceItems({ cluster, index }: AuditedCluster): AuditItem[] {
  const sources = KINDS.flatMap(kind => index.renderedAnywhere(cluster.name, kind).map(one => readSource(kind, one)))
  const groups = Map.groupBy(sources, ({ protocol, organisation }) => `${protocol} ${organisation}`)
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => groupItem(group))
}

interface Source {
  readonly name: string
  readonly protocol: string
  readonly organisation: string
  readonly insecure: boolean
  readonly origin: AuditItem['origin']
}

function readSource(kind: string, { object: { root } }: Rendered): Source {
  const isBucket = kind === BUCKET
  const path = ['spec', isBucket ? 'endpoint' : 'url']
  const written = stringAt(root, path) ?? ''
  const insecure = at(root, ['spec', 'insecure'])
  const isInsecure = isTrue(insecure)
  const scheme = /^([a-z][a-z0-9+.-]{0,20}):\/\//i.exec(written)?.[1]?.toLowerCase()
  const protocol = isBucket ? (isInsecure ? 'http' : 'https') : (scheme ?? 'unknown')
  return {
    name: `${kind.slice(kind.indexOf('/') + 1)} ${stringAt(root, ['metadata', 'namespace']) ?? ''}/${stringAt(root, ['metadata', 'name']) ?? ''}`,
    protocol,
    organisation: organisationOf(isBucket ? `https://${written}` : written),
    insecure: isInsecure,
    origin: place(originAt(root, path)),
  }
}

/** `github.com/acme` of `ssh://git@github.com/acme/fleet.git`. */
function organisationOf(url: string): string {
  const plain = normaliseUrl(url).replace(/^[a-z][a-z0-9+.-]{0,20}:\/\//i, '')
  const [host = '', first] = plain.slice(plain.indexOf('@') + 1).split('/')
  return first ? `${host}/${first}` : host
}

function groupItem(group: readonly Source[]): AuditItem {
  const { protocol, organisation } = group[0]!
  const insecure = group.find(one => one.insecure)
  const state =
    protocol === 'unknown' || organisation === '' ? 'unknown' : SAFE.has(protocol) && !insecure ? 'ok' : 'weak'
  const names = group.map(({ name }) => name).sort()
  const { origin } = insecure ?? group[0]!
  return {
    check: 'sources',
    subject: organisation,
    state,
    message: `${organisation || 'an unreadable address'} by ${protocol}${insecure ? ', without verifying the server' : ''}: ${fewNames(names.map(shown))}`,
    why: 'anyone who can write there or intercept the connection decides what the cluster runs',
    fix: state === 'ok' ? '' : 'Use https with certificate verification, or ssh.',
    ...(origin ? { origin } : {}),
  }
}
