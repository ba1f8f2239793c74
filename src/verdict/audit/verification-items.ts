import { worldOf } from '../../admission/admission/admission-request.ts'
import { type ImageCoverage, imageCoverage } from '../../admission/image-coverage.ts'
import { imagePolicies } from '../../admission/image-uses.ts'
import { kindOf, type Rendered } from '../../fleet/facts/object-table.ts'
import { shown } from '../../fleet/facts/shown.ts'
import { isKubernetesKind } from '../../kube/capabilities/scope.ts'
import { HELM_RELEASE, valuesOf } from '../../kube/flux-kinds.ts'
import { at, type Node, originAt, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { type AuditedCluster, type AuditItem, fewNames, isPlatforms, place, unseenPart } from './audit-item.ts'

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
  for (const [tenant, own] of byTenant(all)) {
    const common = { check: CHECK, subject: tenant, tenant, why: WHY }
    const whose = ownerText(tenant)
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

/** By the name of the tenant, the platform first. */
const byTenant = <T extends { readonly tenant: string }>(all: readonly T[]) =>
  [...Map.groupBy(all, ({ tenant }) => tenant)].sort(([a], [b]) => (a < b ? -1 : 1))

const ownerText = (tenant: string) => (tenant === '' ? 'the platform' : `tenant ${shown(tenant)}`)
const counted = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`

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
    message: `${names.length} of ${counted(all, 'source')} of ${whose} ${names.length === 1 ? 'has' : 'have'} no verification: ${fewNames(names)}`,
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

const IMAGE_CHECK = 'image-verification'
const IMAGE_WHY =
  'anyone who can push to the registry of an image decides what it runs, unless a policy demands a signature'

/** A covered or uncovered image, and the object that runs it. */
interface Found extends ImageCoverage {
  readonly object: KubeObject
  /** '' for the platform. */
  readonly tenant: string
}

/** Checks which images a policy verifies, by tenant. Whether a signature is valid is not evaluated offline. */
export function* imageItems(audited: AuditedCluster): Iterable<AuditItem> {
  const { cluster, index } = audited
  const found = imagesOf(audited)
  const unseen = unseenPart(audited, isPlatforms)
  const policies = imagePolicies(worldOf(index, cluster.name))
  if (policies.length === 0) {
    if (found.length > 0) yield withoutPolicy(found, unseen)
    return
  }
  for (const [tenant, own] of byTenant(found)) yield* itemsOf(tenant, own, unseen)
  yield* releaseItems(audited)
  yield* customItems(audited)
}

function imagesOf({ nodes, index }: AuditedCluster): Found[] {
  return nodes.flatMap(node =>
    node.objects.flatMap(object => {
      const tenant = index.actsFor(node, object) ?? ''
      return imageCoverage(index, { object, node }).map(one => ({ ...one, object, tenant }))
    }),
  )
}

function withoutPolicy(found: readonly Found[], unseen: string | undefined): AuditItem {
  const of = namesOf(found)
  const message = `no policy of the fleet verifies the signatures of images: ${counted(of.length, 'image')} ${of.length === 1 ? 'runs' : 'run'} without one`
  return {
    ...{ check: IMAGE_CHECK, subject: '', why: IMAGE_WHY },
    // a fleet that requires no signatures lacks the setting, so nothing is weakened
    state: 'unknown',
    message: unseen ? `${message}; ${unseen}` : message,
    fix: 'Add a Kyverno ClusterPolicy with verifyImages, or an ImageValidatingPolicy, for the images of tenants.',
  }
}

function* itemsOf(tenant: string, found: readonly Found[], unseen: string | undefined): Iterable<AuditItem> {
  const whose = ownerText(tenant)
  const all = namesOf(found).length
  const common = { check: IMAGE_CHECK, subject: tenant, tenant, why: IMAGE_WHY }
  // an image counts where it is covered least
  const of = (state: ImageCoverage['state']) => found.filter(one => one.state === state)
  const listed = (own: readonly Found[]) => fewNames(namesOf(own).map(shown))
  const share = (own: readonly Found[]) => {
    const { length } = namesOf(own)
    return `${length} of ${counted(all, 'image')} of ${whose} ${length === 1 ? 'is' : 'are'}`
  }
  for (const [cause, own] of Map.groupBy(of('none'), causeOf)) {
    yield {
      ...common,
      state: unseen ? 'unknown' : 'weak',
      message: `${share(own)} not covered by an image verification policy (${cause}): ${listed(own)}${unseen ? `; ${unseen}` : ''}`,
      fix: 'Extend the policy to these images, or add one for them.',
      ...placeOf(own[0]!),
    }
  }
  for (const [cause, own] of Map.groupBy(of('audited'), policyOf)) {
    yield {
      ...common,
      state: 'weak',
      message: `${share(own)} verified only in Audit, by ${cause}: ${listed(own)}`,
      fix: 'Set the failure action of the rule to Enforce once its reports are clean.',
      ...(own[0]!.by ? { origin: place(own[0]!.by.origin) } : {}),
    }
  }
  for (const [cause, own] of Map.groupBy(of('unknown'), causeOf)) {
    yield {
      ...common,
      state: 'unknown',
      message: `whether a policy verifies ${counted(namesOf(own).length, 'image')} of ${whose} is not known (${cause}): ${listed(own)}`,
      fix: 'Check on the cluster whether Kyverno verifies them.',
      ...placeOf(own[0]!),
    }
  }
  const enforced = of('enforced')
  if (enforced.length === 0) return
  const message = `${share(enforced)} covered by ${[...new Set(enforced.map(policyOf))].join(', ')}, which refuses images without a valid signature; the signatures are not evaluated offline`
  yield { ...common, state: 'ok', message, fix: '' }
}

/** The images of charts are known when Helm renders them. */
function* releaseItems({ cluster, index }: AuditedCluster): Iterable<AuditItem> {
  const releases = index.renderedAnywhere(cluster.name, HELM_RELEASE).map(({ node, object }) => {
    const { namespace, name } = idOf(object)
    return { tenant: index.actsFor(node, object) ?? '', name: `${namespace}/${name}` }
  })
  for (const [tenant, own] of byTenant(releases)) {
    const names = own.map(({ name }) => name).sort()
    yield {
      ...{ check: IMAGE_CHECK, subject: tenant, tenant, why: IMAGE_WHY, state: 'unknown', fix: '' },
      message: `the images of ${counted(names.length, 'HelmRelease')} of ${ownerText(tenant)} are not visible: ${fewNames(names.map(shown))}`,
    }
  }
}

/** Objects of custom kinds with the template of a Pod: no image of a custom kind is evaluated. */
function* customItems({ nodes, index }: AuditedCluster): Iterable<AuditItem> {
  const hidden = nodes.flatMap(node =>
    node.objects.flatMap(object => {
      const kind = kindOf(object)
      const template = at(object.root, ['spec', 'template', 'spec', 'containers'])
      if (isKubernetesKind(kind) || template?.type !== 'list') return []
      const { namespace, name } = idOf(object)
      return [
        { tenant: index.actsFor(node, object) ?? '', name: `${kind.split('/')[1]} ${shown(`${namespace}/${name}`)}` },
      ]
    }),
  )
  for (const [tenant, own] of byTenant(hidden)) {
    const names = [...new Set(own.map(({ name }) => name))].sort()
    yield {
      ...{ check: IMAGE_CHECK, subject: tenant, tenant, why: IMAGE_WHY, state: 'unknown' },
      message: `the images of ${counted(names.length, 'object')} of ${ownerText(tenant)} are not evaluated, because they are of custom kinds: ${fewNames(names)}`,
      fix: 'Check on the cluster whether Kyverno verifies the images of the Pods that their controllers make.',
    }
  }
}

const policyOf = ({ by }: ImageCoverage): string =>
  by
    ? `${by.policy.kind} ${shown(by.policy.namespace ? `${by.policy.namespace}/${by.policy.name}` : by.policy.name)}`
    : ''

const causeOf = (one: ImageCoverage): string => (one.by ? `${policyOf(one)}: ${one.why}` : one.why)

const namesOf = (found: readonly Found[]) => [...new Set(found.map(({ use }) => use.written ?? '(not known)'))].sort()

const placeOf = ({ object, use }: Found) => ({ origin: place(originAt(object.root, use.path)) })
