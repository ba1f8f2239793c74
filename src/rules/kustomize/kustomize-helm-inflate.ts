import type { Rule } from '../model/rule.ts'

/** No chart is inflated by an overlay. The renderer raises it. */
export const kustomizeHelmInflate: Rule = {
  id: 'kustomize-helm-inflate',
  severity: 'high',
  title: 'Charts are installed by HelmRelease',
  why: `helmCharts makes kustomize download a chart and run helm; Flux refuses it.`,
  docs: `Use a HelmRelease with a HelmRepository.`,
}
