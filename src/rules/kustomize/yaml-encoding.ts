import type { Rule } from '../model/rule.ts'

/** No file holds bytes that are not clean UTF-8. The renderer raises it. */
export const yamlEncoding: Rule = {
  id: 'yaml-encoding',
  severity: 'medium',
  title: 'YAML that is not clean UTF-8',
  why: 'Parsers disagree about control characters, byte order marks and invalid UTF-8, and reviewers do not see them.',
  docs: 'Save the file as UTF-8, and write control characters as escapes in double quotes.',
}
