import type { Rule } from '../model/rule.ts'

/** No plugin or function runs while rendering. The renderer raises it. */
export const kustomizePlugin: Rule = {
  id: 'kustomize-plugin',
  severity: 'critical',
  title: 'Plugin in a kustomization',
  why: 'A generator or transformer that is a program or a container runs code from the repository during the build.',
  docs: "Use kustomize's built-in generators and transformers.",
}
