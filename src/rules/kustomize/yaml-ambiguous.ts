import type { Rule } from '../rule.ts'

/** No text means different things to different readers of YAML. The renderer raises it. */
export const yamlAmbiguous: Rule = {
  id: 'yaml-ambiguous',
  severity: 'critical',
  title: 'YAML has one meaning',
  why: `What one reader takes for a comment or for text, another takes for a key: a reviewer, this check and the cluster would each see another object.`,
  docs: `Write it plainly: each key once, text in quotes, spaces for indentation, documents separated by a line of their own.`,
}
