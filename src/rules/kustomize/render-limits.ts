import type { Rule } from '../model/rule.ts'

/** Rendering ends, and soon. The renderer raises it. */
export const renderLimits: Rule = {
  id: 'render-limits',
  severity: 'high',
  level: 'error',
  title: 'Render limit exceeded',
  why: 'A huge file, nested YAML aliases, overlays that refer to themselves or complex patterns stop the renderer. All other verdicts wait. kustomize crashes on such a build or does not finish. Bailiwick counts steps, so the same input always has the same result, and each tenant has a separate budget.',
  source: 'CVE-2022-24878, CVE-2022-36049',
  docs: 'Split large files, and keep files for clusters apart from other files.',
}
