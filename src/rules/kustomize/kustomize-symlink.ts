import { leavingLinks } from '../git/support/leaving-links.ts'
import type { Rule } from '../model/rule.ts'

/** No file of an overlay is a symbolic link, and no link beside it leaves the repository. The renderer raises the first. */
export const kustomizeSymlink: Rule = {
  id: 'kustomize-symlink',
  severity: 'critical',
  title: 'Overlays do not follow symbolic links out of their tree',
  why: `A symbolic link can point at files of the machine that renders, or at another directory than the one that was reviewed.`,
  source: 'CVE-2022-24877, CVE-2022-24348',
  docs: `Replace the link by the file that it points at.`,
  checkRepository: leavingLinks,
}
