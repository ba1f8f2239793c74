import { listed, message, untyped } from '../../base/message.ts'
import type { Origin } from '../../base/origin.ts'
import { changedField, chartKey, contentKey, releaseInputs, sourceOfChart } from '../../fleet/facts/charts.ts'
import { hashOf, placeText } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted, shown } from '../../fleet/facts/shown.ts'
import { nodeKey } from '../../fleet/model/fleet.ts'
import { accountOf } from '../../fleet/model/kustomization-spec.ts'
import { type ChartPart, chartSpecOf, DEPLOYERS } from '../../fleet/sources/charts.ts'
import { HELM_CHART, HELM_RELEASE, KUSTOMIZATION } from '../../kube/flux-kinds.ts'
import { causeAt } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import { userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { type Rule, type RuleContext, Subject, type Violation } from '../model/rule.ts'
import { isNewChart } from './opaque-sources.ts'

/** Charts are not rendered here, so a changed one is listed, with the account that will apply it. */
export const chartContentChange: Rule = {
  id: 'chart-content-change',
  severity: 'high',
  level: 'warning',
  title: 'Changed chart in git',
  why: "Anyone with write access to a chart in git can change what its releases deploy. Bailiwick does not render chart templates. Only the rights of the HelmRelease's account limit the objects that the chart creates.",
  source:
    'https://fluxcd.io/flux/components/helm/helmreleases/#chart-template; https://fluxcd.io/flux/components/source/helmcharts/',
  docs: "Review the chart's change before the merge. The change is a warning where the fleet's RBAC confines the HelmRelease's account to the tenant's namespaces. It is a violation if the account has more rights or is not named. It is one, too, if the release acts on another cluster or another tenant writes the chart. The rule covers the chart's directory, its local dependencies (`file://`), its values files and the ignore files above it. It covers copies by an ArtifactGenerator. A source with `spec.include` is an error. It covers content that a Kustomization deploys from an ExternalArtifact in the same way, unless its ArtifactGenerator only copies: such content is rendered.",
  kinds: DEPLOYERS,
  *checkObject(subject, context) {
    const { before, index } = context
    const { node, object, id } = subject
    // a generated artifact that is only copied together is rendered
    const own = subject.kind === KUSTOMIZATION ? index.node(nodeKey(node.cluster, id)) : undefined
    if (own && own.source.opaque === undefined) return
    const parts = index.chartParts(node.key, object)
    if (parts === 'too-much') yield tooMuch(subject)
    if (parts === undefined || parts === 'too-much' || !isAsked(subject, context, parts)) return
    if (!before || isNews(subject, context)) return
    const key = contentKey(parts)
    if (before.knownCharts(node.cluster, id.namespace).has(`content ${key}`)) return
    yield change(subject, context, parts, key)
  },
}

/** The reviewer of a chart that the platform writes for itself also applies it: chart-not-rendered lists it. */
function isAsked(subject: Subject, { index }: RuleContext, parts: readonly ChartPart[]): boolean {
  return index.actsFor(subject.node, subject.object) !== undefined || authorsOf(index, parts).length > 0
}

/** Tenants that alone write what a chart is made of. */
function authorsOf(index: FleetIndex, parts: readonly ChartPart[]): string[] {
  const authors = parts.flatMap(({ url, ref }) => index.authorOf(`${url} ${ref}`) ?? [])
  return [...new Set(authors)].sort()
}

/** The rule source-opaque reports a chart that nothing in the namespace named before. */
function isNews({ node, object, id }: Subject, { index, before }: RuleContext): boolean {
  // no other rule names a Kustomization of an ExternalArtifact
  if (!before || node.tenant === undefined || kindOf(object) === KUSTOMIZATION) return false
  const { cluster } = node
  const { source } = chartSpecOf(object) ?? {}
  const template =
    source?.kind === HELM_CHART ? index.versionsOf(cluster, HELM_CHART, source.namespace, source.name) : []
  const [kind, namespace, named] =
    template.length > 0 ? [HELM_CHART, source!.namespace, template[0]!.object] : [HELM_RELEASE, id.namespace, object]
  const chart = sourceOfChart(named, kind)
  if (!chart) return false
  return !before.knownCharts(cluster, namespace).has(`${kind} ${chartKey(index, cluster, chart)}`)
}

function change(subject: Subject, context: RuleContext, parts: readonly ChartPart[], key: string): Violation {
  const { index, before, config } = context
  const files = changedFiles(index, before!, parts.slice(1))
  const more = files.hasMore ? ' and more' : ''
  const what =
    files.named.length > 0
      ? message`${listed(
          files.named.map(one => quoted('path', one)),
          ', ',
        )}${more}`
      : 'its list of files'
  const [account, further] = applier(subject, context, parts)
  const level = further !== undefined || config.forbidOpaqueSources ? { level: 'violation' as const } : {}
  const confined = further ?? "which the fleet's RBAC confines to the tenant's namespaces"
  return subject.violation(chartSpecOf(subject.object)?.field ?? ['spec'], key, {
    ...(files.first ? { origin: files.first } : {}),
    message: message`${subject.who}: its chart or artifact changes (${what}). Allowed without review: none, because charts and artifacts that are not plain copies are not rendered. ${untyped(account)} applies the content, ${untyped(confined)}.`,
    fix:
      further === undefined
        ? message`Review the chart's change before the merge.`
        : message`Set spec.serviceAccountName of ${subject.who} to an account with rights only in the tenant's namespaces. Or ask a fleet admin to review the chart and override.`,
    ...level,
  })
}

/** The account that applies a release, and why it is not confined to its tenant's namespaces. */
function applier(
  { node, object }: Subject,
  { index }: RuleContext,
  parts: readonly ChartPart[],
): readonly [account: string, further: string | undefined] {
  const { namespace } = idOf(object)
  const name = accountOf(object, index.cluster(node.cluster)?.lockdown)
  const tenant = index.actsFor(node, object)
  if (!name) return ["Flux's controller itself", 'which is cluster-admin']
  const account = userOfAccount(namespace, name)
  if (index.actsElsewhere(node.cluster, object)) {
    return [account, 'on the cluster of its kubeConfig, whose RBAC is unknown']
  }
  if (tenant === undefined) return [account, 'an account of the platform, while a tenant writes the chart']
  const foreign = authorsOf(index, parts).find(author => author !== tenant)
  if (foreign !== undefined) return [account, 'while another tenant writes the chart']
  const reach = index.reachOutside(node.cluster, tenant, namespace, name)
  return [account, reach && `which is not confined to the tenant's namespaces: ${shownReach(reach)}`]
}

const shownReach = (reach: string): string => shown(reach).slice(1, -1)

function tooMuch(subject: Subject): Violation {
  return subject.violation(chartSpecOf(subject.object)?.field ?? ['spec'], 'too-much', {
    level: 'error',
    message: message`${subject.who}: its chart comes from more than 200 copies, or from a source with spec.include. Allowed: sources without spec.include, and at most 200 copies.`,
    fix: message`Remove spec.include of the source, or copy fewer paths.`,
  })
}

const FIX = message`Review the objects before the merge, for example with helm template.`

/** What a release creates is not evaluated, so a change of it never passes without notice. */
export const chartNotRendered: Rule = {
  id: 'chart-not-rendered',
  severity: 'medium',
  level: 'warning',
  title: 'Changed chart, version or values',
  why: "Bailiwick does not render charts, so it does not evaluate the objects that a HelmRelease creates. Only the rights of the release's account limit them.",
  source: 'https://fluxcd.io/flux/components/helm/helmreleases/',
  docs: 'Compare what `helm template` prints before and after the change. The rule reports a new HelmRelease and a change of its chart, version, values, post-renderers or target namespace. It reports a change of the HelmChart, source, ConfigMap or Secret that the release names once, at the changed line. A chart of the platform in git counts too. HelmReleases that did not change are only counted. `unrenderedCharts: approve` in .github/bailiwick.yaml requires the approval of a fleet admin. The rules `source-opaque` and `chart-content-change` report new charts of tenants and charts that tenants write. The rule compares with the base.',
  kinds: [HELM_RELEASE],
  *checkObject(subject, context) {
    const { before, index } = context
    const { node, object, id } = subject
    if (!before || !chartSpecOf(object) || isNewChart(subject, context)) return
    const known = before.knownCharts(node.cluster, id.namespace)
    const parts = index.chartParts(node.key, object)
    const isOther = Array.isArray(parts) && !known.has(`content ${contentKey(parts)}`)
    if (isOther && isAsked(subject, context, parts)) return
    const changed = releaseInputs(index, subject).find(({ key }) => !known.has(`input ${key}`))
    if (changed) {
      const { kind, namespace, name } = idOf(changed.object)
      const was = before.versionsOf(node.cluster, changed.kind, namespace, name)[0]?.object
      const who = objectPart(kind, namespace, name)
      const path = was ? changedField(was, changed.object) : ['spec']
      const value = changed.key
      yield new Subject({ node: changed.node, object: changed.object }).violation(path, value, {
        // what overlays make of it differs, and the line is the same
        cause: hashOf(['input', placeText(causeAt(changed.object.root, path))]),
        message:
          kind === 'HelmRelease'
            ? message`${who} ${was ? 'changes' : 'is new'}. Charts are not rendered, so the objects that it creates are not evaluated.`
            : message`${who} ${was ? 'changes' : 'is new'}, and HelmReleases deploy from it. Charts are not rendered, so the objects that they create are not evaluated.`,
        fix: FIX,
      })
    } else if (isOther) yield changedContent(subject, context, parts)
  },
}

/** A chart in git that the platform writes. */
function changedContent(subject: Subject, context: RuleContext, parts: readonly ChartPart[]): Violation {
  const { first } = changedFiles(context.index, context.before!, parts.slice(1))
  return subject.violation(chartSpecOf(subject.object)!.field, contentKey(parts), {
    ...(first ? { origin: first } : {}),
    message: message`${subject.who}: its chart changes in git. Charts are not rendered, so the objects that it creates are not evaluated.`,
    fix: FIX,
  })
}

/** Files that differ between two states of the parts of a chart. */
interface ChangedFiles {
  /** The first one that is still there. */
  readonly first?: Origin
  /** Paths, the removed ones too, in order; no more than are named. */
  readonly named: readonly string[]
  readonly hasMore: boolean
}

/** Files that a message names. */
const MAX_NAMED = 5
/** Directories that are looked into: enough to name files, and no more work than that. */
const MAX_DIRECTORIES = 200

/** The files below `parts` that are other ones than before. */
function changedFiles(index: FleetIndex, before: FleetIndex, parts: readonly ChartPart[]): ChangedFiles {
  const named = new Map<string, Origin | undefined>()
  const queue = parts.map(({ url, ref, path }) => ({ url, ref, path }))
  let directories = 0
  for (let here = queue.shift(); here && named.size <= MAX_NAMED; here = queue.shift()) {
    if (++directories > MAX_DIRECTORIES) break
    const { url, ref, path } = here
    const was = new Map(before.entriesAt(url, ref, path).map(entry => [entry.path, entry]))
    const is = new Map(index.entriesAt(url, ref, path).map(entry => [entry.path, entry]))
    for (const other of [...new Set([...was.keys(), ...is.keys()])].sort()) {
      const [old, now] = [was.get(other), is.get(other)]
      if (old?.id === now?.id && old?.type === now?.type) continue
      if ((now ?? old)!.type === 'directory') queue.push({ url, ref, path: other })
      else named.set(other, now && { repository: url, file: other, line: 1, column: 1 })
    }
  }
  const first = [...named.values()].find(origin => origin !== undefined)
  const hasMore = named.size > MAX_NAMED || queue.length > 0
  return { ...(first ? { first } : {}), named: [...named.keys()].slice(0, MAX_NAMED), hasMore }
}
