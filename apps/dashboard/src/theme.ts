import { ActionIcon, Badge, Button, createTheme, type MantineColorsTuple, type CSSVariablesResolver, Modal, Tooltip } from '@mantine/core';

/** Neutral on purpose: colour on these screens means a worker's status and nothing else. */
const ink: MantineColorsTuple = ['#f3f5f7', '#e3e9ef', '#c9d2da', '#abb7c3', '#8998a7', '#66737f', '#4a5763', '#33404c', '#1d2731', '#131a21'];

export const theme = createTheme({
  fontFamily: 'var(--sy-sans)',
  fontFamilyMonospace: 'var(--sy-mono)',
  headings: { fontFamily: 'var(--sy-sans)', fontWeight: '600' },
  colors: { ink },
  primaryColor: 'ink',
  primaryShade: { light: 9, dark: 1 },
  autoContrast: true,
  defaultRadius: 'sm',
  fontSizes: { xs: '11.5px', sm: '13px', md: '14px', lg: '16px', xl: '19px' },
  cursorType: 'pointer',
  components: {
    Button: Button.extend({ defaultProps: { size: 'xs' } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray' } }),
    Badge: Badge.extend({ defaultProps: { radius: 'sm' } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 250, withArrow: true, multiline: true, maw: 320 } }),
    Modal: Modal.extend({ defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.5 } } }),
  },
});

/** Mantine's own surfaces follow the tokens of theme.css. */
export const cssVariables: CSSVariablesResolver = () => {
  const surfaces = {
    '--mantine-color-body': 'var(--sy-panel)',
    '--mantine-color-text': 'var(--sy-ink)',
    '--mantine-color-dimmed': 'var(--sy-dim)',
    '--mantine-color-default': 'var(--sy-panel)',
    '--mantine-color-default-hover': 'var(--sy-hover)',
    '--mantine-color-default-border': 'var(--sy-strong-line)',
    '--mantine-color-default-color': 'var(--sy-ink)',
    '--mantine-color-placeholder': 'var(--sy-dim)',
    '--mantine-color-error': 'var(--st-down)',
  };
  return { variables: {}, light: surfaces, dark: surfaces };
};
