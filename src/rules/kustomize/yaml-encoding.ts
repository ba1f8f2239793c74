import type { Rule } from '../model/rule.ts'

/** No file holds bytes that are not clean UTF-8. The renderer raises it. */
export const yamlEncoding: Rule = {
  id: 'yaml-encoding',
  severity: 'medium',
  title: 'YAML is clean UTF-8',
  why: `Readers disagree on control characters, byte order marks and broken UTF-8, and people do not see them.`,
  docs: `Save the file as UTF-8, and write control characters as escapes in double quotes.`,
}
