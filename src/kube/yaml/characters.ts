export const END = 0
export const TAB = 9
export const LINE_FEED = 10
export const CARRIAGE_RETURN = 13
export const SPACE = 32
export const HASH = 35
export const COLON = 58

/** Space or tab. */
export const isBlank = (code: number): boolean => code === SPACE || code === TAB

/** A line break: a carriage return never stands alone in a text that was decoded. */
export const isBreak = (code: number): boolean => code === LINE_FEED || code === CARRIAGE_RETURN

/** A line break or the end of the text. */
export const isBreakOrEnd = (code: number): boolean => code === LINE_FEED || code === CARRIAGE_RETURN || code === END

/** Space, tab, line break or the end of the text. */
export const isBlankOrEnd = (code: number): boolean =>
  code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB || code === END

/** One of `,[]{}`, which end a plain scalar inside brackets. */
export const isFlowIndicator = (code: number): boolean =>
  code === 44 || code === 91 || code === 93 || code === 123 || code === 125

/** What the name of an anchor or the handle of a tag is made of. */
export const isWordCharacter = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 45
