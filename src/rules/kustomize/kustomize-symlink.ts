import { leavingLinks } from '../git/support/leaving-links.ts'
import type { Rule } from '../model/rule.ts'

/** No file of an overlay is a symbolic link, and no link beside it leaves the repository. The renderer raises the first. */
export const kustomizeSymlink: Rule = {
  id: 'kustomize-symlink',
  severity: 'critical',
  title: 'Symbolic link in an overlay',
  why: 'A symbolic link can lead to files of the machine that renders, or to a directory that was not reviewed.',
  source: 'CVE-2022-24877, CVE-2022-24348',
  docs: 'Replace the link with the file that it points to.',
  checkRepository: leavingLinks,
}
