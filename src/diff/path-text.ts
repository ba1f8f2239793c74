import { visible } from '../message/visible.ts'
import type { PathStep } from './diff-nodes.ts'
import type { SecretWords } from './secret-words.ts'

const MAX_PATH = 300

/** `spec.template.spec.containers[web].image`, `metadata.annotations["example.com/a"]`. One line of plain text. */
export function pathText(path: readonly PathStep[], words: SecretWords): string {
  let text = ''
  for (const step of path) {
    if (typeof step !== 'string') text += `[${step.label === undefined ? step.at : name(step.label, words)}]`
    else if (/^[\w-]+$/.test(step)) text += `${text === '' ? '' : '.'}${name(step, words)}`
    else text += `["${name(step, words)}"]`
  }
  return visible(text, MAX_PATH)
}

const name = (text: string, words: SecretWords): string =>
  visible(words.isIn(text) ? '***' : words.withoutHashes(text), 120)
