import type { Rule } from '../model/rule.ts'

/** A directory has one kustomization file. The renderer raises it. */
export const kustomizeMultipleFiles: Rule = {
  id: 'kustomize-multiple-files',
  severity: 'medium',
  level: 'error',
  title: 'Two kustomization files in one directory',
  why: 'kustomization.yaml, kustomization.yml and Kustomization are all read. kustomize rejects a directory with two of them, and other programs pick one.',
  docs: 'Keep one of the files.',
}
