import type { CST } from 'yaml'
import { BailiwickError } from '../errors.ts'
import type { Origin } from './origin.ts'
import { sourceTokens } from './source-tokens.ts'

/**
 * Refuses tabs on which YAML readers disagree: go-yaml takes none where a new key could begin (before anything else on a
 * line, even on one that is blank or a comment, and after `-` or `?`). Throws `yaml-ambiguous`.
 */
export function checkTabs(root: CST.Token, text: string, at: (offset: number) => Origin): void {
  for (const { token, flow, previous } of sourceTokens(root)) {
    if (flow || token.type !== 'space' || !token.source.includes('\t')) continue
    const startsLine = token.offset === 0 || text[token.offset - 1] === '\n'
    const opens = previous?.type === 'seq-item-ind' || previous?.type === 'explicit-key-ind'
    if (!startsLine && !opens) continue
    const origin = at(token.offset)
    throw new BailiwickError('yaml-ambiguous', `${origin.file} has a tab where YAML indents; kustomize refuses it`, {
      origin,
      fix: 'Use spaces.',
    })
  }
}
