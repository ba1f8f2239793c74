import type { Rule } from '../rule.ts'

/** No file of an overlay is a symbolic link. The renderer raises it. */
export const kustomizeSymlink: Rule = {
  id: 'kustomize-symlink',
  severity: 'critical',
  title: 'Overlays do not follow symbolic links out of their tree',
  why: `A symbolic link can point at files of the machine that renders, or at another directory than the one that was reviewed.`,
  docs: `Replace the link by the file that it points at.`,
}
