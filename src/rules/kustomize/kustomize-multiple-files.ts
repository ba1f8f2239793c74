import type { Rule } from '../model/rule.ts'

/** A directory has one kustomization file. The renderer raises it. */
export const kustomizeMultipleFiles: Rule = {
  id: 'kustomize-multiple-files',
  severity: 'medium',
  level: 'error',
  title: 'A directory has one kustomization file',
  why: `kustomization.yaml, kustomization.yml and Kustomization all count. kustomize refuses a directory with two of them, and other readers take one: nobody can say what would be deployed.`,
  docs: `Keep one of them.`,
}
