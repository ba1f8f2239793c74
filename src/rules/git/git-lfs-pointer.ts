import type { Rule } from '../model/rule.ts'

/** No file that is rendered is a pointer of Git LFS. The renderer raises it. */
export const gitLfsPointer: Rule = {
  id: 'git-lfs-pointer',
  severity: 'medium',
  title: 'Deployed file in Git LFS',
  why: 'Git LFS keeps a pointer in git and the content elsewhere. Flux deploys the pointer, and reviewers see the content, which can change without a commit.',
  source: 'git-lfs docs/spec.md; source-controller does not fetch LFS objects',
  docs: 'Exclude manifests and generator files from the `filter=lfs` patterns in .gitattributes.',
}
