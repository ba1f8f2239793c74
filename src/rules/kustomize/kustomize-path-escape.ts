import type { Rule } from '../rule.ts'

/** No path of an overlay leads out of the repository. The renderer raises it. */
export const kustomizePathEscape: Rule = {
  id: 'kustomize-path-escape',
  severity: 'critical',
  title: 'Overlays stay inside their repository',
  why: `A path that leaves the repository reads files of the machine that renders.`,
  docs: `Use paths inside the repository.`,
}
