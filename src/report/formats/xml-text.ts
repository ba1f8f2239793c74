import { visible } from '../../message/visible.ts'

/** Text for an XML attribute or element; XML 1.0 cannot represent most control characters. */
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
