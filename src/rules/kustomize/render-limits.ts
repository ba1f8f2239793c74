import type { Rule } from '../model/rule.ts'

/** Rendering ends, and soon. The renderer raises it. */
export const renderLimits: Rule = {
  id: 'render-limits',
  severity: 'high',
  level: 'error',
  title: 'Rendering stays within its limits',
  why: `A file of gigabytes, aliases of aliases, overlays that lead back to themselves, a tree of patterns: whoever renders them stands still, and with them everybody else's verdict. kustomize itself ends such a build by a crash or not at all. Every limit is counted in steps, so that the same input always gives the same answer, and each tenant has a budget of their own.`,
  source: 'CVE-2022-24878, CVE-2022-36049',
  docs: `Split large files, and keep what clusters are built from apart from everything else.`,
}
