import { htmlText } from '../../message/html-text.ts'

/** Markup that may stand in a page as it is. Only `html` makes it of values, so nothing unescaped gets in. */
export class Html {
  readonly #markup: string

  /** For texts of this folder only. */
  constructor(parts: readonly string[]) {
    this.#markup = parts.join('')
  }

  toString(): string {
    return this.#markup
  }
}

/** What may stand in a page: markup, text (escaped), or a list of both; undefined and false are nothing. */
export type Content = Html | string | number | undefined | false | readonly Content[]

/**
 * Markup with values in it. A value that is no markup itself is shown as text, in element content and between the quotes
 * of an attribute alike: nothing in it ends the place that it stands in, and characters that hide or reorder are written out.
 */
export function html(markup: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new Html(markup.flatMap((part, at) => (at < values.length ? [part, shown(values[at])] : [part])))
}

function shown(value: Content): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.toString()
  if (typeof value === 'object') return value.map(shown).join('')
  return htmlText(String(value))
}
