import type { Rule } from '../model/rule.ts'

/** No chart is inflated by an overlay. The renderer raises it. */
export const kustomizeHelmInflate: Rule = {
  id: 'kustomize-helm-inflate',
  severity: 'high',
  title: 'Helm chart in a kustomization',
  why: '`helmCharts` makes kustomize download a chart and run helm. Flux rejects it.',
  docs: 'Use a HelmRelease with a HelmRepository.',
}
