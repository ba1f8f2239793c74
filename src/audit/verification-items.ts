import type { Rendered } from '../facts/object-table.ts'
import { shown } from '../facts/shown.ts'
import { valuesOf } from '../flux/kinds.ts'
import { at, type Node, originAt, type Path, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { type AuditItem, place } from './audit-item.ts'
import type { AuditedCluster } from './audited-cluster.ts'
import { fewNames } from './few-names.ts'

const VERIFIED = valuesOf(row => row.verify)
const CHECK = 'source-verification'
const WHY = 'without a signature, anyone who can push to the source or its registry decides what Flux applies'

/** Checks which sources Flux verifies, by tenant, and with which keys or identities. The signatures are not evaluated offline. */
export function* verificationItems({ cluster, index }: AuditedCluster): Iterable<AuditItem> {
  const all = [...VERIFIED].flatMap(([kind, path]) =>
    index.renderedAnywhere(cluster.name, kind).flatMap(one => {
      if (!canBeVerified(kind, one.object)) return []
      const tenant = index.actsFor(one.node, one.object) ?? ''
      return [{ ...one, kind, path, tenant, verify: at(one.object.root, path) }]
    }),
  )
  // a fleet that verifies nothing lacks the setting; where it verifies some, the others are the way in
  const isAsked = all.some(({ verify }) => isSet(verify))
  const byTenant = [...Map.groupBy(all, ({ tenant }) => tenant)].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [tenant, own] of byTenant) {
    const common = { check: CHECK, subject: tenant, why: WHY }
    const whose = tenant === '' ? 'the platform' : `tenant ${shown(tenant)}`
    const open = own.filter(({ verify }) => !isSet(verify))
    if (open.length > 0) yield { ...common, ...unverified(open, own.length, whose, isAsked) }
    const signed = own.filter(({ verify }) => isSet(verify))
    const weak = signed.map(one => ({ one, problem: problemOf(one, index, cluster.name) }))
    for (const { one, problem } of weak) {
      if (!problem) continue
      const { state, text, fix } = problem
      const origin = place(originAt(one.object.root, one.path))
      yield { ...common, state, message: `${nameOf(one.object)} of ${whose} ${text}`, fix, origin }
    }
    const good = weak.filter(({ problem }) => !problem).map(({ one }) => nameOf(one.object))
    if (good.length > 0) {
      const message = `Flux verifies ${good.length} of ${own.length} sources of ${whose}: ${fewNames(good)}; the signatures are not evaluated offline`
      yield { ...common, state: 'ok', message, fix: '' }
    }
  }
}

interface Source extends Rendered {
  readonly kind: string
  readonly path: Path
  readonly verify: Node | undefined
}

const isSet = (verify: Node | undefined) => verify?.type === 'map' && verify.fields.size > 0

/** Flux verifies charts of HelmRepositories only: in git the GitRepository is verified, and a chartRef names its own source. */
function canBeVerified(kind: string, { root }: KubeObject): boolean {
  const base: Path = kind.endsWith('/HelmRelease') ? ['spec', 'chart', 'spec'] : ['spec']
  const isChart = kind.endsWith('/HelmRelease') || kind.endsWith('/HelmChart')
  return !isChart || stringAt(root, [...base, 'sourceRef', 'kind']) === 'HelmRepository'
}

function unverified(open: readonly Source[], all: number, whose: string, isAsked: boolean) {
  const names = open.map(({ object }) => nameOf(object)).sort()
  const [first] = open
  return {
    message: `${names.length} of ${all} ${all === 1 ? 'source' : 'sources'} of ${whose} ${names.length === 1 ? 'has' : 'have'} no verification: ${fewNames(names)}`,
    fix: 'Set spec.verify, for commits with the keys of their authors, for OCI artifacts and charts with cosign or notation.',
    ...(isAsked
      ? { state: 'weak' as const, origin: place(originAt(first!.object.root, first!.path.slice(0, -1))) }
      : { state: 'unknown' as const }),
  }
}

interface Problem {
  readonly state: 'weak' | 'unknown'
  readonly text: string
  readonly fix: string
}

function problemOf(
  { object, kind, verify }: Source,
  index: AuditedCluster['index'],
  cluster: string,
): Problem | undefined {
  const secret = stringAt(verify, ['secretRef', 'name'])
  const identities = at(verify, ['matchOIDCIdentity'])
  const provider = stringAt(verify, ['provider']) ?? 'cosign'
  const isGit = kind.endsWith('/GitRepository')
  if (secret === undefined && !isGit && provider === 'cosign') {
    if (identities?.type === 'list' && identities.items.length > 0) return undefined
    const text = 'is verified without a key and without matchOIDCIdentity: a signature of any identity is accepted'
    return { state: 'weak', text, fix: 'Set spec.verify.matchOIDCIdentity with the issuer and the subject that sign.' }
  }
  if (secret === undefined) {
    const text = 'names no Secret with the trusted keys: Flux refuses the source'
    return { state: 'unknown', text, fix: 'Set spec.verify.secretRef.name.' }
  }
  const { namespace } = idOf(object)
  if (index.versionsOf(cluster, '/Secret', namespace, secret).length > 0) return undefined
  const text = `is verified with the keys of Secret ${shown(`${namespace}/${secret}`)}, which the fleet does not render`
  return { state: 'unknown', text, fix: 'Add the Secret with the public keys to the fleet; they need no encryption.' }
}

const nameOf = (object: KubeObject) => {
  const { kind, namespace, name } = idOf(object)
  return `${kind} ${shown(`${namespace}/${name}`)}`
}
