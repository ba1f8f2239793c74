import type { Rule } from '../model/rule.ts'

/** No plugin or function runs while rendering. The renderer raises it. */
export const kustomizePlugin: Rule = {
  id: 'kustomize-plugin',
  severity: 'critical',
  title: 'Overlays run no programs',
  why: `A generator or transformer that is a program or a container would run code of the repository where it is rendered.`,
  docs: `Use the generators and transformers that kustomize has built in.`,
}
