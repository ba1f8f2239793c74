import { kindOf } from '../facts/kind-of.ts'
import { shown } from '../facts/shown.ts'
import { HELM_RELEASE } from '../flux/kinds.ts'
import { at, originAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { isKubernetesKind } from '../kube/scope/scope.ts'
import { worldOf } from '../policy/admission/admission-world.ts'
import { type ImageCoverage, imageCoverage } from '../policy/images/image-coverage.ts'
import { imagePolicies } from '../policy/images/image-policies.ts'
import { type AuditItem, place } from './audit-item.ts'
import { type AuditedCluster, isPlatforms, unseenPart } from './audited-cluster.ts'
import { fewNames } from './few-names.ts'

const CHECK = 'image-verification'
const WHY = 'anyone who can push to the registry of an image decides what it runs, unless a policy demands a signature'

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
  for (const { object, enforces } of policies) yield policyItem(object, enforces, found)
  const byTenant = [...Map.groupBy(found, ({ tenant }) => tenant)].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [tenant, own] of byTenant) yield* itemsOf(tenant, own, unseen)
  yield* releaseItems(audited)
  yield* customItems(audited)
}

function imagesOf({ nodes, index }: AuditedCluster): Found[] {
  return nodes.flatMap(node =>
    node.objects.flatMap(object => {
      const subject = { object, id: idOf(object), kind: kindOf(object), node }
      const tenant = index.actsFor(node, object) ?? ''
      return imageCoverage(index, subject).map(one => ({ ...one, object, tenant }))
    }),
  )
}

function withoutPolicy(found: readonly Found[], unseen: string | undefined): AuditItem {
  const of = namesOf(found)
  const message = `no policy of the fleet verifies the signatures of images: ${of.length} ${of.length === 1 ? 'image runs' : 'images run'} without one`
  return {
    ...{ check: CHECK, subject: '', why: WHY },
    // a fleet that demands no signatures lacks the setting; nothing of it is weakened
    state: 'unknown',
    message: unseen ? `${message}; ${unseen}` : message,
    fix: 'Add a Kyverno ClusterPolicy with verifyImages, or an ImageValidatingPolicy, for the images of tenants.',
  }
}

/** What one policy covers: a policy that covers nothing protects nothing. */
function policyItem(object: KubeObject, enforces: boolean, found: readonly Found[]): AuditItem {
  const { kind, namespace, name } = idOf(object)
  const isOf = ({ by, state }: Found) =>
    (state === 'enforced' || state === 'audited') &&
    by?.policy.kind === kind &&
    by.policy.namespace === namespace &&
    by.policy.name === name
  const of = namesOf(found.filter(isOf))
  const effect = enforces
    ? 'refuses images without a valid signature'
    : 'is in Audit: Kyverno reports an image without a valid signature, and runs it'
  const covers =
    of.length === 0
      ? 'no image that the fleet renders'
      : `${of.length} ${of.length === 1 ? 'image' : 'images'} of the fleet: ${fewNames(of.map(shown))}`
  return {
    ...{ check: CHECK, subject: namespace ? `${namespace}/${name}` : name, why: WHY },
    state: !enforces ? 'weak' : of.length === 0 ? 'unknown' : 'ok',
    message: `${kind} ${shown(name)} ${effect}. It covers ${covers}; the signatures are not evaluated offline`,
    fix: enforces ? '' : 'Set the failure action to Enforce once the reports of the policy are clean.',
    origin: place(originAt(object.root, ['metadata', 'name'])),
  }
}

function* itemsOf(tenant: string, found: readonly Found[], unseen: string | undefined): Iterable<AuditItem> {
  const whose = tenant === '' ? 'the platform' : `tenant ${shown(tenant)}`
  const all = namesOf(found).length
  const common = { check: CHECK, subject: tenant, why: WHY }
  // an image counts where it is covered least
  const none = found.filter(({ state }) => state === 'none')
  for (const [cause, own] of Map.groupBy(none, causeOf)) {
    const of = namesOf(own)
    yield {
      ...common,
      state: unseen ? 'unknown' : 'weak',
      message: `${counted(of.length, all, whose)} not covered by an image verification policy (${cause}): ${fewNames(of.map(shown))}${unseen ? `; ${unseen}` : ''}`,
      fix: 'Extend the policy to these images, or add one for them.',
      ...placeOf(own[0]!),
    }
  }
  const audited = found.filter(({ state }) => state === 'audited')
  for (const [cause, own] of Map.groupBy(audited, policyOf)) {
    const of = namesOf(own)
    yield {
      ...common,
      state: 'weak',
      message: `${counted(of.length, all, whose)} verified only in Audit, by ${cause}: ${fewNames(of.map(shown))}`,
      fix: 'Set the failure action of the rule to Enforce once its reports are clean.',
      ...(own[0]!.by ? { origin: place(own[0]!.by.origin) } : {}),
    }
  }
  const unknown = found.filter(({ state }) => state === 'unknown')
  for (const [cause, own] of Map.groupBy(unknown, causeOf)) {
    const of = namesOf(own)
    yield {
      ...common,
      state: 'unknown',
      message: `whether a policy verifies ${of.length === 1 ? '1 image' : `${of.length} images`} of ${whose} is not known (${cause}): ${fewNames(of.map(shown))}`,
      fix: 'Check on the cluster whether Kyverno verifies them.',
      ...placeOf(own[0]!),
    }
  }
  const enforced = found.filter(({ state }) => state === 'enforced')
  if (enforced.length > 0) {
    const of = namesOf(enforced)
    const message = `${counted(of.length, all, whose)} covered by ${[...new Set(enforced.map(policyOf))].join(', ')}, which refuses images without a valid signature; the signatures are not evaluated offline`
    yield { ...common, state: 'ok', message, fix: '' }
  }
}

/** The images of charts are known when Helm renders them. */
function* releaseItems({ cluster, index }: AuditedCluster): Iterable<AuditItem> {
  const releases = index.renderedAnywhere(cluster.name, HELM_RELEASE)
  const byTenant = Map.groupBy(releases, ({ node, object }) => index.actsFor(node, object) ?? '')
  for (const [tenant, own] of [...byTenant].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const names = own.map(({ object }) => `${idOf(object).namespace}/${idOf(object).name}`).sort()
    yield {
      ...{ check: CHECK, subject: tenant, why: WHY, state: 'unknown', fix: '' },
      message: `the images of ${names.length === 1 ? '1 HelmRelease' : `${names.length} HelmReleases`} of ${tenant === '' ? 'the platform' : `tenant ${shown(tenant)}`} are not visible: ${fewNames(names.map(shown))}`,
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
  for (const [tenant, own] of [...Map.groupBy(hidden, one => one.tenant)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const names = [...new Set(own.map(({ name }) => name))].sort()
    yield {
      ...{ check: CHECK, subject: tenant, why: WHY, state: 'unknown' },
      message: `the images of ${names.length === 1 ? '1 object' : `${names.length} objects`} of ${tenant === '' ? 'the platform' : `tenant ${shown(tenant)}`} are not evaluated, because they are of custom kinds: ${fewNames(names)}`,
      fix: 'Check on the cluster whether Kyverno verifies the images of the Pods that their controllers make.',
    }
  }
}

const counted = (count: number, all: number, whose: string) =>
  `${count} of ${all} ${all === 1 ? 'image' : 'images'} of ${whose} ${count === 1 ? 'is' : 'are'}`

const policyOf = ({ by }: ImageCoverage): string =>
  by
    ? `${by.policy.kind} ${shown(by.policy.namespace ? `${by.policy.namespace}/${by.policy.name}` : by.policy.name)}`
    : ''

const causeOf = (one: ImageCoverage): string => (one.by ? `${policyOf(one)}: ${one.why}` : one.why)

const namesOf = (found: readonly Found[]) => [...new Set(found.map(({ use }) => use.written ?? '(not known)'))].sort()

const placeOf = ({ object, use }: Found) => ({ origin: place(originAt(object.root, use.path)) })
