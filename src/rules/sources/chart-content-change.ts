import { contentKey } from '../../facts/chart-parts-of.ts'
import { chartKey, sourceOfChart } from '../../facts/chart-source.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { kindOf } from '../../facts/kind-of.ts'
import { objectPart, quoted, shown } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { chartSpecOf, DEPLOYERS } from '../../fleet/charts/chart-of.ts'
import type { ChartPart } from '../../fleet/charts/chart-parts.ts'
import { accountOf } from '../../fleet/model/appliers.ts'
import { nodeKey } from '../../fleet/model/node-key.ts'
import { HELM_CHART, HELM_RELEASE, KUSTOMIZATION } from '../../flux/kinds.ts'
import { idOf } from '../../kube/object.ts'
import { userOfAccount } from '../../kube/rbac/groups-of.ts'
import { listed, message, untyped } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { changedFiles } from './support/changed-files.ts'

/** Charts are not rendered here, so a change of one is at least named, with the account that will apply it. */
export const chartContentChange: Rule = {
  id: 'chart-content-change',
  severity: 'high',
  level: 'warning',
  title: 'Changed chart in git',
  why: "Anyone with write access to a chart in git can change what its releases deploy. Bailiwick does not render chart templates. Only the rights of the HelmRelease's account limit the objects that the chart creates.",
  source:
    'https://fluxcd.io/flux/components/helm/helmreleases/#chart-template; https://fluxcd.io/flux/components/source/helmcharts/',
  docs: "Review the chart's change before the merge. The change is a warning where the fleet's RBAC confines the HelmRelease's account to the tenant's namespaces. It is a violation if the account has more rights or is not named. It is one, too, if the release acts on another cluster or another tenant writes the chart. The rule covers the chart's directory, its local dependencies (`file://`), its values files and the ignore files above it. It covers includes of its source and copies by an ArtifactGenerator. It covers content that a Kustomization deploys from an ExternalArtifact in the same way, unless its ArtifactGenerator only copies: such content is rendered.",
  kinds: DEPLOYERS,
  *checkObject(subject, context) {
    const { before, index } = context
    const { node, object, id } = subject
    // a generated artifact that is only copied together is rendered
    const own = subject.kind === KUSTOMIZATION ? index.node(nodeKey(node.cluster, id)) : undefined
    if (own && own.source.opaque === undefined) return
    const parts = index.chartParts(node.key, object)
    if (parts === undefined || !isAsked(subject, context, parts)) return
    if (parts === 'too-much') {
      yield tooMuch(subject)
      return
    }
    if (!before || isNews(subject, context)) return
    const key = contentKey(parts)
    if (before.knownCharts(node.cluster, id.namespace).has(`content ${key}`)) return
    yield change(subject, context, parts, key)
  },
}

/** Who reviews a chart that the platform writes for itself applies it too: the rule chart-not-rendered names it. */
export function isAsked(subject: Subject, { index }: RuleContext, parts: readonly ChartPart[] | 'too-much'): boolean {
  return index.actsFor(subject.node, subject.object) !== undefined || authorsOf(index, parts).length > 0
}

/** Tenants who alone write what a chart is made of. */
function authorsOf(index: FleetIndex, parts: readonly ChartPart[] | 'too-much'): string[] {
  const authors = parts === 'too-much' ? [] : parts.flatMap(({ url, ref }) => index.authorOf(`${url} ${ref}`) ?? [])
  return [...new Set(authors)].sort()
}

/** A chart that nothing in the namespace named before is reported by the rule source-opaque. */
function isNews({ node, object, id }: Subject, { index, before }: RuleContext): boolean {
  // a Kustomization of an ExternalArtifact is named by no other rule
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
  const { node, object, id } = subject
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
  return {
    node,
    object,
    path: chartSpecOf(object)?.field ?? ['spec'],
    ...(files.first ? { origin: files.first } : {}),
    value: key,
    message: message`${objectPart(id.kind, id.namespace, id.name)}: its chart or artifact changes (${what}). Allowed without review: none, because charts and artifacts that are not plain copies are not rendered. ${untyped(account)} applies the content, ${untyped(confined)}.`,
    fix:
      further === undefined
        ? message`Review the chart's change before the merge.`
        : message`Set spec.serviceAccountName of ${objectPart(id.kind, id.namespace, id.name)} to an account with rights only in the tenant's namespaces. Or ask a fleet admin to review the chart and override.`,
    ...level,
  }
}

/** Who applies a release, and why that is not confined to the namespaces of its tenant. */
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

function tooMuch({ node, object, id }: Subject): Violation {
  return {
    node,
    object,
    path: chartSpecOf(object)?.field ?? ['spec'],
    value: 'too-much',
    level: 'error',
    message: message`${objectPart(id.kind, id.namespace, id.name)}: its chart comes from too many sources (render-limits). Allowed: at most 200 sources.`,
    fix: message`Remove entries from spec.include of the sources.`,
  }
}
