import { visible } from '../../message/visible.ts'

/** Text as it may stand in an attribute or an element; XML 1.0 has no way to write most control characters. */
export function xmlText(value: string, max = 1000): string {
  const lines = value.split('\n').map(line => visible(line, max))
  return lines
    .join('\n')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\uFFFE\uFFFF]/g, '?')
}
