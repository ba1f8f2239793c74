import { BailiwickError } from '../../../errors.ts'
import { parseText } from '../../../kube/yaml/parse-documents.ts'
import { type ContextValue, fromJson, fromNode, NotEvaluatedError, RuleError } from './values.ts'

const NOWHERE = { repository: '', file: '', line: 1, column: 1 }
const MAX_TEXT = 100_000

/** `parse_json`. */
export function parseJson(text: string): ContextValue {
  refuseLong(text)
  try {
    return fromJson(JSON.parse(text))
  } catch {
    throw new RuleError('parse_json: the text is not JSON')
  }
}

/** `parse_yaml`, for a single document. */
export function parseYaml(text: string): ContextValue {
  refuseLong(text)
  try {
    const { documents } = parseText(text, () => NOWHERE)
    const [first] = documents
    return first ? fromNode(first) : null
  } catch (error) {
    if (error instanceof BailiwickError) throw new NotEvaluatedError(`parse_yaml: ${error.message}`)
    throw error
  }
}

function refuseLong(text: string): void {
  if (text.length > MAX_TEXT) throw new NotEvaluatedError(`a text of more than ${MAX_TEXT} characters`)
}
