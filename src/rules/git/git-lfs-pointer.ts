import type { Rule } from '../model/rule.ts'

/** No file that is rendered is a pointer of Git LFS. The renderer raises it. */
export const gitLfsPointer: Rule = {
  id: 'git-lfs-pointer',
  severity: 'medium',
  title: 'What is deployed stands in git itself',
  why: `Git LFS keeps a pointer in git and the content elsewhere. Flux deploys the pointer, while reviewers and their tools see the content, which can be exchanged without a commit.`,
  source: 'git-lfs docs/spec.md; source-controller does not fetch LFS objects',
  docs: `Keep manifests and the files of generators out of the patterns of .gitattributes that have filter=lfs.`,
}
